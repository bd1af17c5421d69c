"""Problems over the probability simplex: projection, quadratic programs, likelihoods."""

from unseen.simplex.likelihood import mixture_shares
from unseen.simplex.programs import minimise_on_simplex
from unseen.simplex.projection import project, project_open

__all__ = ["minimise_on_simplex", "mixture_shares", "project", "project_open"]
