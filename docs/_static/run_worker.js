// Python for run.js: gets the blocks of a page, and answers with what each of them prints.

let python = null;
let running = 0;

function say(text) {
  postMessage({ block: running, text: text + "\n" });
}

async function start(pyodide, source) {
  const { loadPyodide } = await import(pyodide + "pyodide.mjs");
  const made = await loadPyodide({ indexURL: pyodide, stdout: say, stderr: say });
  await made.loadPackage(["numpy", "scipy", "scikit-learn"], { messageCallback: () => {} });
  const packed = await fetch(source);
  if (!packed.ok) throw new Error(`${source} could not be loaded`);
  const folder = made.runPython("import site; site.getsitepackages()[0]");
  made.unpackArchive(await packed.arrayBuffer(), "zip", { extractDir: folder });
  // Its news for those who write packages are none for readers.
  made.runPython("import warnings; warnings.filterwarnings('ignore', module='threadpoolctl')");
  return made;
}

onmessage = async ({ data: { pyodide, source, codes } }) => {
  try {
    python ??= await start(pyodide, source);
  } catch (error) {
    postMessage({ said: `Python could not be loaded: ${error.message}`, state: "failed" });
    return;
  }
  const names = python.runPython("{'__name__': 'page'}");
  const begun = performance.now();
  for (running = 0; running < codes.length; running++) {
    postMessage({ said: `Running block ${running + 1} of ${codes.length} ...` });
    try {
      await python.runPythonAsync(codes[running], { globals: names });
    } catch (error) {
      say(error.message);
      postMessage({ said: `Block ${running + 1} ended with an error.`, state: "failed" });
      return;
    }
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  postMessage({ said: `Done in ${seconds} s. Change the code, and run it again.`, state: "done" });
};
