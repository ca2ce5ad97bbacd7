#pragma once

#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpulog/diagnostic.hpp"
#include "gpulog/options.hpp"
#include "plan/plan.hpp"
#include "sema/program.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "support/deep_stack.hpp"
#include "support/source.hpp"
#include "syntax/ast.hpp"

namespace gpulog::detail {

/// All stages of one program from text to analysis. Spans in later stages point into `sources`.
struct program_state {
  compile_options options;
  word_size words = word_size::bits32;
  source_manager sources;
  source_manager query_sources;  ///< queries, which are not files
  syntax::program parsed;
  std::optional<sema::program> analysed;   ///< empty if there were errors
  std::set<std::string> filled_relations;  ///< filled by the caller
  std::vector<diagnostic> remarks;
  std::string report;
  std::vector<std::string> shown_stages;  ///< by the pragma `show`
  bool is_deep = false;                   ///< whatever walks its expressions runs by on_stack_for()
  std::size_t syntax_errors = 0;
  storage::symbol_table* symbols_of = nullptr;  ///< of the engine that the program was read for; later only compared
  bool prints_queries = true;                   ///< false: for engine::query
  bool is_cut_off = false;                      ///< the first error is an unexpected end of text
  double compile_seconds = 0;
};

/// Returns what the action does, called on a stack that suffices for the program's expressions.
template <class Action>
auto on_stack_for(const program_state& state, const Action& action) {
  if constexpr (std::is_void_v<decltype(action())>) {
    if (!state.is_deep || !on_deep_stack(action)) action();
  } else {
    std::optional<decltype(action())> result;
    on_stack_for(state, [&] { result.emplace(action()); });
    return std::move(*result);
  }
}

}  // namespace gpulog::detail
