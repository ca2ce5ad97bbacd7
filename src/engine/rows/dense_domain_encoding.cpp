#include "engine/rows/dense_domain_encoding.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "exec/calibration.hpp"
#include "plan/passes/relations/dense_domains.hpp"
#include "storage/calibration.hpp"
#include "storage/relation/relation_options.hpp"
#include "storage/sets/bit_set.hpp"
#include "support/long_vector.hpp"

namespace gpulog::detail {
namespace {

/// Properties of a class before its values are numbered.
struct class_size {
  std::uint64_t distinct = 0;  ///< upper bound of the number of distinct values, estimated
  std::uint64_t bound = 0;     ///< exclusive upper bound of the values
  std::uint64_t rows = 0;      ///< number of facts, over all columns
};

class_size size_of(const plan::encodable_domain& its, const plan::statistics& known, const staged_facts& staged,
                   storage::wide_values* wide) {
  class_size size;
  size.distinct = its.constants.size();
  for (const wide_word* constant : its.constants)
    size.bound = std::max(size.bound, storage::word_of(*constant, wide) + std::uint64_t{1});
  for (const plan::column_place& place : its.columns) {
    if (place.relation.value >= staged.size()) continue;  // made by the planner
    for (const staged_rows& block : staged[place.relation.value]) {
      if (block.rows == 0) continue;
      const word* const values = block.columns[place.column].data();
      size.bound = std::max(size.bound, *std::max_element(values, values + block.rows) + std::uint64_t{1});
      size.rows += block.rows;
    }
    const std::vector<std::uint64_t>& distinct = known.relations[place.relation.value].distinct_values;
    if (place.column < distinct.size()) size.distinct += distinct[place.column];
  }
  return size;
}

/// Returns the numbers sorted by value: ranks[number] is the position of the number's value.
long_vector<word> ranks_of(const backend::array<word>& words, value_kind kind, const storage::wide_values* wide) {
  // Keys sort as unsigned numbers: the sign bit of a number is flipped.
  const wide_word sign = kind != value_kind::number ? 0 : wide_word{1} << (wide == nullptr ? 31 : 63);
  long_vector<wide_word> keys(words.size());
  for (std::size_t number = 0; number < words.size(); ++number) {
    keys[number] = storage::value_of(words[number], wide) ^ sign;
  }
  long_vector<word> order(words.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](word left, word right) { return keys[left] < keys[right]; });
  long_vector<word> ranks(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = static_cast<word>(rank);
  return ranks;
}

}  // namespace

dense_domain_encoding::dense_domain_encoding(const plan::program& planned, backend::memory_resource& resource,
                                             storage::wide_values* wide)
    : resource_(&resource),
      wide_(wide),
      plan_(std::make_unique<plan::program>(planned)),
      classes_(plan::find_encodable_domains(*plan_)),
      values_of_(planned.relations.size()) {}

std::vector<bool> dense_domain_encoding::choose(const encoding_choice& chosen, const plan::statistics& known,
                                                const staged_facts& staged) const {
  if (chosen.everywhere) return std::vector<bool>(classes_.size(), true);
  std::vector<bool> wanted(classes_.size());
  std::map<plan::column_place, std::size_t> class_of;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    for (const plan::column_place& place : classes_[i].columns) class_of[place] = i;
  }
  std::map<std::size_t, class_size> sizes;
  const auto size = [&](std::size_t i) -> const class_size& {
    const auto [found, is_new] = sizes.try_emplace(i);
    if (is_new) found->second = size_of(classes_[i], known, staged, wide_);
    return found->second;
  };
  for (const plan::stratum& one : plan_->strata) {
    if (!one.recursive || one.has_row_steps()) continue;
    for (const plan::relation_domain& domain : one.domains) {
      std::vector<std::uint64_t> numbers, bounds;
      std::vector<std::size_t> its;
      std::uint64_t rows = 0;
      for (std::uint32_t c = 0; c < domain.columns.size(); ++c) {
        const auto found = class_of.find({domain.relation, c});
        if (found == class_of.end()) break;
        its.push_back(found->second);
        numbers.push_back(size(its.back()).distinct);
        bounds.push_back(size(its.back()).bound);
        rows = std::max(rows, size(its.back()).rows);
      }
      if (its.size() != domain.columns.size() || rows < exec::calibration::least_encoded_rows) continue;
      const std::uint64_t small = storage::bit_matrix_shape::of(numbers).bytes();
      const std::uint64_t large = storage::bit_matrix_shape::of(bounds).bytes();
      if (small > std::min(chosen.largest_matrix, exec::calibration::matrix_bytes_of_row * rows) ||
          large / exec::calibration::least_encoding_gain < small)
        continue;
      if (large <= storage::calibration::small_matrix_bytes) continue;
      for (const std::size_t i : its) wanted[i] = true;
    }
  }
  return wanted;
}

bool dense_domain_encoding::apply(const encoding_choice& chosen, const plan::statistics& known, staged_facts& staged) {
  const std::vector<bool> wanted = choose(chosen, known, staged);
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return false;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (wanted[i]) number(classes_[i], staged);
  }
  for (plan::stratum& one : plan_->strata) one.domains = plan::find_domains(*plan_, one);
  return true;
}

void dense_domain_encoding::number(plan::encodable_domain& its, staged_facts& staged) {
  kernels::tuple_numbering numbering(*resource_, 1);
  for (wide_word* constant : its.constants) {
    const word value = storage::word_of(*constant, wide_);
    std::uint32_t number = 0;
    numbering.add({&value}, 1, 0, &number);
    *constant = number;
  }
  const auto for_each_block = [&](const auto& visit) {
    for (const plan::column_place& place : its.columns) {
      if (place.relation.value >= staged.size()) continue;
      for (staged_rows& block : staged[place.relation.value]) {
        if (block.rows > 0) visit(block.columns[place.column].data(), block.rows);
      }
    }
  };
  for_each_block([&](word* values, std::uint64_t rows) { numbering.add({values}, rows, 0, values); });

  const word* const found = numbering.columns().front();
  auto& values = *values_.emplace_back(std::make_unique<backend::array<word>>(*resource_, numbering.size()));
  std::copy_n(found, numbering.size(), values.data());
  if (its.is_ordered) {
    const long_vector<word> ranks = ranks_of(values, its.kind, wide_);
    for (wide_word* constant : its.constants) *constant = ranks[*constant];
    for_each_block([&](word* numbers, std::uint64_t rows) {
      for (std::uint64_t i = 0; i < rows; ++i) numbers[i] = ranks[numbers[i]];
    });
    for (std::uint64_t number = 0; number < numbering.size(); ++number) values[ranks[number]] = found[number];
  }
  for (const plan::column_place& place : its.columns) values_of_[place.relation.value][place.column] = values.data();
}

void dense_domain_encoding::take_over(const plan::program& planned, std::size_t stratum) {
  plan::program changed;
  changed.relations = planned.relations;
  changed.indexes = planned.indexes;
  changed.strata = {planned.strata[stratum]};
  for (const plan::encodable_domain& its : plan::find_encodable_domains(changed)) {
    if (its.columns.empty() || its.constants.empty()) continue;
    const auto& [relation, column] = its.columns.front();
    const auto found = values_of_[relation.value].find(column);
    if (found == values_of_[relation.value].end()) continue;
    const auto values = std::find_if(values_.begin(), values_.end(),
                                     [&](const auto& candidate) { return candidate->data() == found->second; });
    const backend::array<word>& of_numbers = **values;
    const word* const begin = of_numbers.data();
    for (wide_word* constant : its.constants) {
      const word value = storage::word_of(*constant, wide_);
      *constant = static_cast<wide_word>(std::find(begin, begin + of_numbers.size(), value) - begin);
    }
  }
  // Versions stay where they are unless some were added, as a recursion that runs knows them.
  const auto take_versions = [](std::vector<plan::rule_version>& from, std::vector<plan::rule_version>& to) {
    to.resize(from.size());
    std::move(from.begin(), from.end(), to.begin());
  };
  plan::stratum& from = changed.strata.front();
  plan::stratum& to = plan_->strata[stratum];
  if (!from.rows) to.rows.reset();
  take_versions(from.once.versions, to.once.versions);
  for (std::size_t phase = 0; phase < to.loop.size(); ++phase)
    take_versions(from.loop[phase].versions, to.loop[phase].versions);
  to.supplementary = std::move(from.supplementary);
  for (const relation_id member : to.relations)
    plan_->relations[member.value] = std::move(changed.relations[member.value]);
  plan_->indexes = std::move(changed.indexes);
}

std::vector<std::string> dense_domain_encoding::columns() const {
  std::vector<std::string> names;
  for (std::size_t relation = 0; relation < values_of_.size(); ++relation) {
    const plan::relation& named = plan_->relations[relation];
    for (const auto& [column, values] : values_of_[relation]) {
      names.push_back(named.name + "." + named.attribute_names[column]);
    }
  }
  return names;
}

void dense_domain_encoding::restore(std::uint32_t relation, std::uint64_t n, word* const* columns) const {
  for (const auto& [column, values] : values_of_[relation]) {
    for (std::uint64_t i = 0; i < n; ++i) columns[column][i] = values[columns[column][i]];
  }
}

std::vector<const word*> dense_domain_encoding::restored(std::uint32_t relation,
                                                         const std::vector<const word*>& numbers, std::uint64_t rows) {
  std::vector<const word*> columns = numbers;
  for (const auto& [column, values] : values_of_[relation]) {
    auto& own = restored_.emplace_back(*resource_, rows);
    for (std::uint64_t i = 0; i < rows; ++i) own[i] = values[numbers[column][i]];
    columns[column] = own.data();
  }
  return columns;
}

}  // namespace gpulog::detail
