// Runs the Python of a page in the reader's browser, once the reader asks for it: nothing is
// loaded before. The work is done beside the page (run_worker.js), so that the page stays usable.

const here = document.currentScript.src;
const bar = document.querySelector(".run-page");
const button = bar.querySelector("button");
const told = bar.querySelector("[role=status]");
const blocks = [...document.querySelectorAll(".highlight-python pre")];
let worker = null;

function outputOf(block) {
  const box = block.closest(".highlight-python");
  if (!box.nextElementSibling?.matches(".run-output")) {
    const made = document.createElement("pre");
    made.className = "run-output";
    made.tabIndex = 0;
    made.setAttribute("aria-label", "What your browser printed");
    box.after(made);
  }
  return box.nextElementSibling;
}

function hear({ data }) {
  if (data.said) told.textContent = data.said;
  if (data.text !== undefined) outputOf(blocks[data.block]).textContent += data.text;
  if (data.state) {
    bar.dataset.state = data.state;
    button.disabled = data.state === "running";
    button.textContent = "Run again";
  }
}

function run() {
  if (worker === null) {
    worker = new Worker(new URL("run_worker.js", here), { type: "module" });
    worker.onmessage = hear;
    worker.onerror = () => hear({ data: { said: "Your browser could not start Python.", state: "failed" } });
    for (const block of blocks) {
      block.contentEditable = "plaintext-only";
      block.setAttribute("role", "textbox");
      block.setAttribute("aria-multiline", "true");
      block.setAttribute("aria-label", "Python of this page, which you may change");
    }
  }
  for (const block of blocks) outputOf(block).textContent = "";
  hear({ data: { said: "Loading Python, NumPy, SciPy and scikit-learn ...", state: "running" } });
  const source = new URL("unseen.zip", here).href;
  const codes = blocks.map((block) => block.innerText);
  worker.postMessage({ pyodide: bar.dataset.pyodide, source, codes });
}

button.addEventListener("click", run);
// Browsers start no worker for a page that is opened from a disk.
bar.hidden = location.protocol === "file:";
