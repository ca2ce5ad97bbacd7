#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "sema/program.hpp"
#include "sema/rewriting/flat_clause.hpp"
#include "sema/types/clause_types.hpp"

namespace gpulog::sema {

/// Numbers the texts of a program in order of first use.
class symbol_numbers {
 public:
  /// @param number_symbol see analysis_options::number_symbol
  symbol_numbers(program& numbered, const std::function<wide_word(const std::string&)>& number_symbol)
      : program_(numbered), number_symbol_(number_symbol) {}
  symbol_id number(const std::string& text);

 private:
  program& program_;
  const std::function<wide_word(const std::string&)>& number_symbol_;
  std::unordered_map<std::string, symbol_id> numbers_;
};

/// Returns the rule of a clause that passed all checks; the caller sets id, plans and text. Empty if the body contains
/// `false`, so that the rule never fires.
[[nodiscard]] std::optional<rule> lower(const flat_clause& clause, const clause_types& types, symbol_numbers& symbols);

/// Returns a fact whose arguments are literals of their columns' kinds, without type inference.
[[nodiscard]] std::optional<fact> lower_plain_fact(const syntax::atom& head, relation_id relation,
                                                   const std::vector<attribute>& columns, symbol_numbers& symbols,
                                                   word_size words);

}  // namespace gpulog::sema
