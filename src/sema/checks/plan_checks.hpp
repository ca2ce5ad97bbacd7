#pragma once

#include <vector>

#include "sema/program.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// The source of each rule; a clause may have produced several rules.
struct written_rules {
  const std::vector<const syntax::clause*>& of_rules;              ///< by rule
  const std::vector<const syntax::subsumption*>& of_subsumptions;  ///< by subsumptive rule
};

/// Checks `.plan`s, and adds to each rule the plans of its versions. Plans of rules that no output depends on are not
/// checked, because the program may have dropped recursive rules on purpose; without outputs, all plans are checked.
/// Plans of rules that read an empty relation are not checked either, because Soufflé removes these rules.
/// @param analysed stratified
void check_plans(program& analysed, const written_rules& written, diagnostics& diagnostics);

}  // namespace gpulog::sema
