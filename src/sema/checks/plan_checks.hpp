#pragma once

#include <vector>

#include "sema/program.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// What the rules of a program were written as; a clause may have made several rules.
struct written_rules {
  const std::vector<const syntax::clause*>& of_rules;              ///< by rule
  const std::vector<const syntax::subsumption*>& of_subsumptions;  ///< by subsumptive rule
};

/// Checks `.plan`s, and gives rules those that hold for one of their versions.
/// Plans of rules on which no output depends are not judged: what made one recursive may have been left out on
/// purpose. Of a program without outputs, all are. Nor are those of rules that read a relation without rows, which
/// Soufflé takes out.
/// @param analysed stratified
void check_plans(program& analysed, const written_rules& written, diagnostics& diagnostics);

}  // namespace gpulog::sema
