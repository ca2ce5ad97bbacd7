#pragma once

#include <string>
#include <unordered_map>

#include "sema/program.hpp"
#include "sema/rewriting/flat_clause.hpp"
#include "sema/types/clause_types.hpp"

namespace gpulog::sema {

/// Numbers the texts of a program in order of first use.
class symbol_numbers {
 public:
  explicit symbol_numbers(std::vector<std::string>& symbols) : symbols_(symbols) {}
  symbol_id number(const std::string& text);

 private:
  std::vector<std::string>& symbols_;
  std::unordered_map<std::string, symbol_id> numbers_;
};

/// The rule of a clause that passed all checks; id, plans and text are left to the caller. Nothing when the body holds
/// `false`, so that the rule never fires.
[[nodiscard]] std::optional<rule> lower(const flat_clause& clause, const clause_types& types, symbol_numbers& symbols);

/// A fact whose arguments are literals of their columns' kinds, without the way by type inference.
[[nodiscard]] std::optional<fact> lower_plain_fact(const syntax::atom& head, relation_id relation,
                                                   const std::vector<attribute>& columns, symbol_numbers& symbols,
                                                   word_size words);

}  // namespace gpulog::sema
