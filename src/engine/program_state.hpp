#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpulog/diagnostic.hpp"
#include "plan/plan.hpp"
#include "sema/program.hpp"
#include "support/source.hpp"
#include "syntax/ast.hpp"

namespace gpulog::detail {

struct engine_state;

/// All stages of one program from text to analysis. Spans in the later stages point into `sources`.
struct program_state {
  word_size words = word_size::bits32;
  source_manager sources;
  source_manager query_sources;  ///< queries, which are not files
  syntax::program parsed;
  std::optional<sema::program> analysed;   ///< empty if there were errors
  std::set<std::string> filled_relations;  ///< filled by the caller
  std::vector<diagnostic> remarks;
  std::string report;
  std::vector<std::string> shown_stages;  ///< by the pragma `show`
  std::size_t syntax_errors = 0;
  engine_state* symbols_of = nullptr;  ///< the engine that a program was read for; afterwards only compared
  bool is_cut_off = false;             ///< the first error is an unexpected end of text
  double compile_seconds = 0;
};

}  // namespace gpulog::detail
