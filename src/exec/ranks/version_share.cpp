#include "exec/ranks/version_share.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpulog::exec {
namespace {

using plan::operand;

/// Slots that the hash of a binding includes: limits the steps for wide rows. No other number was tried.
constexpr std::size_t most_hashed_slots = 4;
/// Multiplier of the hash: 2^32 divided by the golden ratio (Knuth's multiplicative hashing).
constexpr wide_word multiplier = 0x9E3779B1;
constexpr wide_word half_bits = word_bits / 2;

/// Returns whether the operation needs only words of columns and constants.
bool needs_words_only(const plan::operation& operation) {
  if (const auto* const computed = std::get_if<plan::compute>(&operation))
    return computed->op <= scalar_op::float_to_unsigned || computed->op == scalar_op::iteration_number;
  if (const auto* const filter = std::get_if<plan::filter>(&operation))
    return filter->op <= comparison_op::greater_equal_float;
  if (const auto* const fold = std::get_if<plan::fold_end>(&operation)) return fold->op != fold_op::functor;
  return !std::holds_alternative<plan::pack>(operation) && !std::holds_alternative<plan::unpack>(operation);
}

const std::vector<plan::column_binding>* bindings_of(const plan::operation& operation) {
  if (const auto* const scan = std::get_if<plan::scan>(&operation)) return &scan->bindings;
  if (const auto* const match = std::get_if<plan::match>(&operation)) return &match->bindings;
  return nullptr;
}

/// Returns the number of the first expansion that binds slots, outside of aggregates and first matches.
std::optional<std::size_t> divided_operation(const plan::rule_version& version) {
  for (std::size_t number = 0; number < version.operations.size(); ++number) {
    const plan::operation& operation = version.operations[number];
    const bool begins_match = std::any_of(version.first_matches.begin(), version.first_matches.end(),
                                          [number](const plan::first_match& match) { return match.begin == number; });
    if (begins_match || std::holds_alternative<plan::fold_begin>(operation)) return std::nullopt;
    const auto* const bindings = bindings_of(operation);
    if (bindings != nullptr && !bindings->empty()) return number;
  }
  return std::nullopt;
}

/// Appends operations that compute values in new slots of a version.
class slot_values {
 public:
  explicit slot_values(plan::rule_version& version) : version_(version) {}

  operand add(scalar_op op, operand left, operand right) {
    const slot_id result(version_.slot_count++);
    version_.slot_names.emplace_back();
    version_.slot_kinds.push_back(value_kind::unsigned_number);
    operations_.emplace_back(plan::compute{op, result, {left, right}});
    return operand::slot(result);
  }
  std::vector<plan::operation> take() { return std::move(operations_); }

 private:
  plan::rule_version& version_;
  std::vector<plan::operation> operations_;
};

}  // namespace

bool can_be_divided(const plan::rule_version& version) {
  return std::all_of(version.operations.begin(), version.operations.end(), needs_words_only) &&
         divided_operation(version).has_value();
}

plan::rule_version share_of(const plan::rule_version& version, const rank_share& share) {
  plan::rule_version result = version;
  const std::size_t place = divided_operation(version).value() + 1;
  const std::vector<plan::column_binding>& bindings = *bindings_of(version.operations[place - 1]);
  slot_values values(result);
  const operand factor = operand::constant(multiplier);
  operand hash = values.add(scalar_op::multiply_number, operand::slot(bindings.front().slot), factor);
  for (std::size_t i = 1; i < std::min(bindings.size(), most_hashed_slots); ++i) {
    hash = values.add(scalar_op::bit_xor, hash, operand::slot(bindings[i].slot));
    hash = values.add(scalar_op::multiply_number, hash, factor);
  }
  // Scales the upper half of the hash to the number of ranks.
  hash = values.add(scalar_op::shift_right_unsigned, hash, operand::constant(half_bits));
  hash = values.add(scalar_op::multiply_number, hash, operand::constant(share.ranks));
  hash = values.add(scalar_op::shift_right_unsigned, hash, operand::constant(half_bits));
  std::vector<plan::operation> test = values.take();
  test.emplace_back(plan::filter{comparison_op::equal, hash, operand::constant(share.rank)});

  const std::size_t added = test.size();
  const auto at = [place](auto& list) { return list.begin() + static_cast<std::ptrdiff_t>(place); };
  result.operations.insert(at(result.operations), test.begin(), test.end());
  if (result.estimates.size() >= place)
    result.estimates.insert(at(result.estimates), added, result.estimates[place - 1] / share.ranks);
  for (plan::first_match& match : result.first_matches) {
    match.begin += added;
    match.end += added;
  }
  for (plan::operation& operation : result.operations) {
    auto* const match = std::get_if<plan::match>(&operation);
    if (match == nullptr) continue;
    for (plan::other_search& other : match->others) other.test += added;
  }
  return result;
}

}  // namespace gpulog::exec
