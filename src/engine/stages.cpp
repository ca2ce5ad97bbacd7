#include "engine/stages.hpp"

#include <functional>
#include <map>

#if defined(GPULOG_WITH_GPU)
#include "exec/gpu/gpu_executor.hpp"
#include "exec/hybrid/device_strata.hpp"
#endif
#include "engine/tuning.hpp"
#include "gpulog/error.hpp"
#include "plan/explain.hpp"
#include "plan/planner.hpp"
#include "sema/print.hpp"
#include "sema/types/types.hpp"
#include "syntax/printer.hpp"

namespace gpulog::detail {
namespace {

/// Prints relations with the types of their attributes, and rules with the types of their variables.
std::string type_analysis(const sema::program& program) {
  std::string text;
  for (const sema::relation& relation : program.relations) {
    text += relation.name + "(";
    std::string_view separator;
    for (const sema::attribute& attribute : relation.attributes) {
      text += std::string(separator) + attribute.name + ":" + std::string(sema::kind_name(attribute.kind));
      separator = ", ";
    }
    text += ")\n";
  }
  for (const sema::rule& rule : program.rules) {
    text += "\n" + rule.text + "\n";
    for (const sema::variable& variable : rule.variables) {
      text += "  " + variable.name + ": " + std::string(sema::kind_name(variable.kind)) + "\n";
    }
  }
  return text;
}

using show_function = std::function<std::string(const program_state&, const run_options&)>;

/// Returns the function of a stage that requires a program without errors.
show_function of_analysed(std::string (*show)(const sema::program&)) {
  return [show](const program_state& state, const run_options&) {
    return state.analysed ? show(*state.analysed) : std::string();
  };
}

std::string show_syntax(const program_state& state, const run_options&) {
  return state.syntax_errors == 0 ? syntax::print(state.parsed) : std::string();
}

std::string show_plan(const program_state& state, const run_options& options) {
  if (!state.analysed) return {};
  const plan::program planned = plan::make_plan(*state.analysed, {}, tuning_of(options).planning);
  std::string text = plan::explain(planned);
#if defined(GPULOG_WITH_GPU)
  text += exec::explain_device_strata(planned);
#endif
  return text;
}

std::string show_syntax_errors(const program_state& state, const run_options&) {
  return state.syntax_errors > 0 ? state.report : "";
}

const std::map<std::string, show_function, std::less<>>& stages() {
  static const std::map<std::string, show_function, std::less<>> table = {
      {"initial-ast", show_syntax},
      {"initial-datalog", show_syntax},
      {"parse-errors", show_syntax_errors},
      {"transformed-ast", of_analysed([](const sema::program& program) { return sema::to_text(program); })},
      {"type-analysis", of_analysed(type_analysis)},
      {"precedence-graph", of_analysed(sema::precedence_graph)},
      {"precedence-graph-text", of_analysed(sema::precedence_graph_text)},
      {"scc-graph", of_analysed(sema::scc_graph)},
      {"scc-graph-text", of_analysed(sema::scc_graph_text)},
      {"initial-ram", show_plan},
      {"transformed-ram", show_plan},
  };
  return table;
}

}  // namespace

const std::vector<std::string>& stage_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const auto& [name, show] : stages()) result.push_back(name);
    return result;
  }();
  return names;
}

std::string show_stage(const program_state& state, std::string_view stage, const run_options& options) {
  const auto found = stages().find(stage);
  if (found == stages().end()) throw input_error("There is no stage named " + std::string(stage));
  return found->second(state, options);
}

}  // namespace gpulog::detail
