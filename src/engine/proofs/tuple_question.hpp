#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/proofs/stored_relations.hpp"
#include "gpulog/proof.hpp"
#include "support/ids.hpp"
#include "support/value_types.hpp"

namespace gpulog::detail {

/// Evaluates a conjunction of atoms such as `edge(1, x), path(x, y)` and returns the values of its variables. Uses
/// nested loops with indexes, in the order of the atoms.
class tuple_question {
 public:
  /// @throws input_error
  tuple_question(run_context& context, std::string_view text);

  /// @param most maximum number of matches, at least 1
  [[nodiscard]] tuple_matches answer(stored_relations& stored, std::size_t most);

 private:
  static constexpr std::size_t nobody = SIZE_MAX;  ///< `_`

  struct argument {
    std::optional<word> constant;
    std::size_t variable = nobody;
  };
  struct atom {
    relation_id relation;
    std::vector<argument> arguments;
  };

  [[nodiscard]] atom atom_from(std::string_view text);
  [[nodiscard]] std::size_t variable_named(std::string_view name, const value_type& type);
  /// Matches the atoms from `number` on.
  /// @return whether more matches are wanted
  [[nodiscard]] bool match(std::size_t number, stored_relations& stored);
  [[nodiscard]] bool match_row(std::size_t number, std::uint64_t row, stored_relations& stored);
  [[nodiscard]] bool note_match();
  void check_cancelled();

  run_context* context_;
  std::vector<atom> atoms_;
  std::vector<std::string> names_;  ///< by variable
  std::vector<value_type> types_;
  std::vector<std::optional<word>> values_;  ///< values of the current match
  std::size_t most_ = 0;
  std::vector<std::vector<word>> found_;
  std::vector<std::string> tuples_;   ///< tuple of the only atom, by match
  std::set<std::vector<word>> seen_;  ///< the same matches as a set
  bool is_all_ = true;
  std::uint64_t looks_ = 0;
};

}  // namespace gpulog::detail
