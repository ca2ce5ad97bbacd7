#include "plan/passes/recursions/row_wise_evaluation.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "plan/pass.hpp"

namespace gpulog::plan {
namespace {

/// Source of a slot's value: a column of the first or of the second relation that a version reads.
struct slot_source {
  bool is_second = false;
  std::uint32_t column = 0;
  friend bool operator==(const slot_source&, const slot_source&) = default;
};

class version_reader {
 public:
  explicit version_reader(const program& plan) : plan_(plan) {}

  std::optional<row_wise_version> read(const rule_version& version) {
    for (const operation& one : version.operations) {
      if (const auto* read = std::get_if<scan>(&one)) {
        if (first_ != nullptr || !is_plain(read->relation)) return std::nullopt;
        first_ = read;
        bind(read->bindings, false);
      } else if (const auto* joined = std::get_if<match>(&one)) {
        if (first_ == nullptr || second_ != nullptr || !is_plain(joined->relation)) return std::nullopt;
        if (joined->keys.size() != 1 || joined->keys[0].is_constant || !joined->others.empty()) return std::nullopt;
        second_ = joined;
        middle_ = source_of(joined->keys[0]);
        bind(joined->bindings, true);
      } else if (const auto* compared = std::get_if<filter>(&one)) {
        filters_.push_back({*compared, source_of(compared->left), source_of(compared->right)});
      } else if (const auto* head = std::get_if<insert>(&one)) {
        return finish(*head);
      } else {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  struct read_filter {
    filter compared;
    std::optional<slot_source> left, right;
  };

  [[nodiscard]] bool is_plain(relation_id id) const { return !plan_.relations[id.value].is_equivalence; }
  void bind(const std::vector<column_binding>& bindings, bool is_second) {
    for (const column_binding& bound : bindings) held_[bound.slot.value] = {is_second, bound.column};
  }
  /// Returns the source of a slot; empty for a constant.
  [[nodiscard]] std::optional<slot_source> source_of(const operand& value) const {
    if (value.is_constant) return std::nullopt;
    return held_.at(value.value);
  }

  [[nodiscard]] std::optional<row_wise_version> finish(const insert& head) const {
    const auto row = source_of(head.values[0]);
    const auto value = source_of(head.values[1]);
    if (first_ == nullptr || !row || !value) return std::nullopt;
    row_wise_version result;
    if (second_ == nullptr) {
      result.source = {{first_->relation, row->column, value->column, first_->rows}, std::nullopt};
    } else {
      if (row->is_second == value->is_second || !middle_) return std::nullopt;
      const std::uint32_t key = plan_.indexes[second_->index.value].order.front();
      const column_pairs first = {first_->relation, middle_->column, row->is_second ? value->column : row->column,
                                  first_->rows};
      const column_pairs second = {second_->relation, key, row->is_second ? row->column : value->column, second_->rows};
      // From the value of the row to the join variable, then to the other value.
      const column_pairs& from = row->is_second ? second : first;
      result.source = {{from.relation, from.value, from.key, from.rows}, row->is_second ? first : second};
    }
    for (const read_filter& one : filters_) {
      filter renamed = one.compared;
      if (!rename(renamed.left, one.left, *row, *value) || !rename(renamed.right, one.right, *row, *value))
        return std::nullopt;
      result.filters.push_back(renamed);
    }
    return result;
  }
  /// Replaces x or y with slot 0 or 1.
  /// @return whether the operand is x, y or a constant
  [[nodiscard]] bool rename(operand& renamed, const std::optional<slot_source>& source, const slot_source& row,
                            const slot_source& value) const {
    if (!source) return true;
    if (*source == row) {
      renamed = operand::slot(slot_id(0));
    } else if (*source == value) {
      renamed = operand::slot(slot_id(1));
    } else {
      return false;
    }
    return true;
  }

  const program& plan_;
  const scan* first_ = nullptr;
  const match* second_ = nullptr;
  std::optional<slot_source> middle_;
  std::map<std::uint32_t, slot_source> held_;  // by slot; overwritten with the slot
  std::vector<read_filter> filters_;
};

}  // namespace

bool has_rows(const relation& made) {
  return made.kinds.size() == 2 && !made.is_equivalence && made.choice_domains.empty() && made.size_limit == 0;
}

std::optional<row_wise_evaluation> find_row_wise_evaluation(const program& plan, const stratum& considered) {
  if (considered.recursive || considered.relations.size() != 1 || !considered.subsumptions.empty()) return std::nullopt;
  const relation_id id = considered.relations.front();
  if (!has_rows(plan.relations[id.value])) return std::nullopt;
  row_wise_evaluation result;
  for (const rule_version& version : considered.once.versions) {
    auto made = version_reader(plan).read(version);
    if (!made) return std::nullopt;
    if (!result.sources.empty() && made->filters != result.filters) return std::nullopt;
    result.sources.push_back(made->source);
    result.filters = std::move(made->filters);
  }
  // Rules that only copy a relation produce few duplicates.
  const bool joins = std::any_of(result.sources.begin(), result.sources.end(),
                                 [](const row_source& one) { return one.to.has_value(); });
  if (!joins) return std::nullopt;
  return result;
}

std::optional<row_wise_version> find_version_source(const program& plan, const rule_version& version) {
  return version_reader(plan).read(version);
}

std::optional<row_wise_version> find_row_wise_version(const program& plan, const stratum& considered,
                                                      const rule_version& version) {
  if (!considered.subsumptions.empty() || !has_rows(plan.relations[version.head.value])) return std::nullopt;
  auto made = version_reader(plan).read(version);
  if (made && !made->source.to) return std::nullopt;
  return made;
}

void find_row_wise_evaluations(planning& shared) {
  for (stratum& one : shared.result.strata) {
    one.row_wise = find_row_wise_evaluation(shared.result, one);
    const auto find_in = [&](phase& searched) {
      for (rule_version& version : searched.versions)
        version.row_wise = find_row_wise_version(shared.result, one, version);
    };
    if (!one.row_wise) find_in(one.once);
    for (phase& repeated : one.loop) find_in(repeated);
  }
}

}  // namespace gpulog::plan
