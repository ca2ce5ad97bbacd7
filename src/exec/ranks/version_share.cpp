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
bool needs_words(const plan::operation& operation) {
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

/// Returns the version with a filter in front of operator `place`, which keeps the bindings of the share.
/// @param hashed slots, at least one
plan::rule_version filtered(const plan::rule_version& version, std::size_t place, const std::vector<operand>& hashed,
                            const rank_share& share) {
  plan::rule_version result = version;
  slot_values values(result);
  const operand factor = operand::constant(multiplier);
  operand hash = values.add(scalar_op::multiply_number, hashed.front(), factor);
  for (std::size_t i = 1; i < hashed.size(); ++i) {
    hash = values.add(scalar_op::bit_xor, hash, hashed[i]);
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
  const auto move = [place, added](std::size_t& number) { number += number >= place ? added : 0; };
  for (plan::first_match& match : result.first_matches) {
    move(match.begin);
    move(match.end);
  }
  for (plan::operation& operation : result.operations) {
    auto* const match = std::get_if<plan::match>(&operation);
    if (match == nullptr) continue;
    for (plan::other_search& other : match->others) move(other.test);
  }
  return result;
}

}  // namespace

bool needs_words_only(const plan::rule_version& version) {
  return std::all_of(version.operations.begin(), version.operations.end(),
                     [](const plan::operation& one) { return needs_words(one); });
}

bool can_be_divided(const plan::rule_version& version) {
  return needs_words_only(version) && divided_operation(version).has_value();
}

bool runs_at(const stratum_share& share, const plan::rule_version& version) {
  return share.partition || share.of.rank == 0 || can_be_divided(version);
}

std::optional<plan::rule_version> share_of(const plan::rule_version& version, const stratum_share& share) {
  if (!share.partition) {
    if (!can_be_divided(version)) return std::nullopt;
    const std::size_t number = divided_operation(version).value();
    std::vector<operand> slots;
    for (const plan::column_binding& binding : *bindings_of(version.operations[number])) {
      if (slots.size() < most_hashed_slots) slots.push_back(operand::slot(binding.slot));
    }
    return filtered(version, number + 1, slots, share.of);
  }
  if (reads_partition(version, *share.partition)) return std::nullopt;
  const version_value value = head_value(version, share.partition->at(version.head));
  return filtered(version, value.bound_by + 1, {value.operand}, share.of);
}

}  // namespace gpulog::exec
