// Starts `gpulog lsp` for Datalog programs.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const settings = vscode.workspace.getConfiguration("gpulog");
  const server = { command: settings.get("path"), args: ["lsp"] };
  client = new LanguageClient("gpulog", "gpulog", server, {
    documentSelector: [{ language: "souffle-datalog" }],
    initializationOptions: settings,
    synchronize: { configurationSection: "gpulog" },
  });
  return client.start();
};

exports.deactivate = () => client && client.stop();
