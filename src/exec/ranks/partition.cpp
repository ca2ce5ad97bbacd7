#include "exec/ranks/partition.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "exec/ranks/version_share.hpp"
#include "plan/reads.hpp"

namespace gpulog::exec {
namespace {

/// An operator that reads a relation, with the known values of columns.
struct relation_read {
  relation_id relation;
  std::map<std::uint32_t, version_value> values;  ///< by column
};

/// The values in the columns of relations that a version reads and extends.
class version_values {
 public:
  /// @param indexes of the program; empty: keys of reads are not needed
  version_values(const std::vector<plan::index>& indexes, const plan::rule_version& version)
      : indexes_(&indexes), bound_by_(version.slot_count, 0) {
    for (const plan::operation& one : version.operations) {
      std::visit([this](const auto& operation) { read(operation); }, one);
      ++number_;
    }
    for (relation_read& one : reads_) {
      for (auto& [column, value] : one.values) value = representative(value);
    }
    for (version_value& value : head_) value = representative(value);
  }

  [[nodiscard]] const std::vector<relation_read>& reads() const { return reads_; }
  [[nodiscard]] const version_value& head(std::uint32_t column) const { return head_[column]; }

 private:
  [[nodiscard]] version_value value_of(const plan::operand& operand) const {
    return {operand, operand.is_constant ? 0 : bound_by_[operand.value]};
  }
  void bind(slot_id slot) { bound_by_[slot.value] = number_; }

  void read(const plan::scan& one) {
    relation_read& found = reads_.emplace_back(relation_read{one.relation, {}});
    bind_columns(one.bindings, found);
  }
  void read(const plan::match& one) {
    relation_read& found = reads_.emplace_back(relation_read{one.relation, {}});
    read_keys(one.index, one.keys, found);
    bind_columns(one.bindings, found);
  }
  void read(const plan::exists& one) {
    relation_read& found = reads_.emplace_back(relation_read{one.relation, {}});
    read_keys(one.index, one.keys, found);
  }
  void read(const plan::compute& one) { bind(one.result); }
  void read(const plan::pack& one) { bind(one.result); }
  void read(const plan::unpack& one) {
    for (const plan::field_binding& binding : one.bindings) bind(binding.slot);
  }
  void read(const plan::generate& one) { bind(one.result); }
  void read(const plan::fold_begin& /*one*/) { ++folds_; }
  void read(const plan::fold_end& one) {
    --folds_;
    bind(one.result);
  }
  void read(const plan::filter& one) {
    if (folds_ != 0 || one.op != comparison_op::equal || one.left.is_constant || one.right.is_constant) return;
    equal_.emplace_back(value_of(one.left), value_of(one.right));
  }
  void read(const plan::insert& one) {
    for (const plan::operand& operand : one.values) head_.push_back(value_of(operand));
  }

  void read_keys(index_id index, const std::vector<plan::operand>& keys, relation_read& found) const {
    for (std::uint32_t i = 0; i < keys.size() && !indexes_->empty(); ++i) {
      const std::uint32_t column = index.valid() ? (*indexes_)[index.value].order[i] : i;
      found.values.emplace(column, value_of(keys[i]));
    }
  }
  void bind_columns(const std::vector<plan::column_binding>& bindings, relation_read& found) {
    for (const plan::column_binding& binding : bindings) {
      bind(binding.slot);
      found.values.emplace(binding.column, value_of(plan::operand::slot(binding.slot)));
    }
  }
  /// Returns the same value for all values that filters require to be equal.
  [[nodiscard]] version_value representative(version_value value) const {
    for (std::size_t i = 0; i < equal_.size(); ++i) {  // chains of equal values
      for (const auto& [left, right] : equal_) {
        if (value == right) value = left;
      }
    }
    return value;
  }

  const std::vector<plan::index>* indexes_;
  std::vector<std::size_t> bound_by_;  // by slot: number of the operator
  std::size_t number_ = 0;             // of the operator
  std::size_t folds_ = 0;              // number of enclosing aggregates
  std::vector<std::pair<version_value, version_value>> equal_;
  std::vector<relation_read> reads_;
  std::vector<version_value> head_;
};

/// Chooses partition columns, beginning with a column of the first relation.
class partition_search {
 public:
  partition_search(const plan::program& program, const plan::stratum& stratum, partition_columns known)
      : members_(stratum.relations.begin(), stratum.relations.end()), columns_(std::move(known)) {
    plan::for_each_version(stratum, [&](const plan::rule_version& version) {
      if (!version.is_retired) versions_.push_back({version, version_values(program.indexes, version)});
    });
  }

  /// @return whether all versions allow the column
  [[nodiscard]] bool try_column(relation_id relation, std::uint32_t column) {
    columns_.emplace(relation, column);
    for (bool is_changed = true; is_changed;) {
      const std::size_t before = columns_.size();
      for (const one_version& version : versions_) {
        if (!allows(version)) return false;
      }
      is_changed = columns_.size() != before;
    }
    const auto has_column = [this](relation_id member) { return columns_.contains(member); };
    return std::all_of(members_.begin(), members_.end(), has_column);
  }
  [[nodiscard]] const partition_columns& columns() const { return columns_; }

 private:
  struct one_version {
    const plan::rule_version& planned;
    version_values values;
  };

  /// Also chooses the columns of members that the version reads.
  [[nodiscard]] bool allows(const one_version& version) {
    const auto head = columns_.find(version.planned.head);
    if (head == columns_.end()) return true;  // not yet
    const version_value& value = version.values.head(head->second);
    for (const relation_read& one : version.values.reads()) {
      auto found = columns_.find(one.relation);
      if (found == columns_.end() && !members_.contains(one.relation)) continue;
      if (found == columns_.end()) {
        const auto place = std::find_if(one.values.begin(), one.values.end(),
                                        [&value](const auto& column) { return column.second == value; });
        if (place == one.values.end()) return false;
        found = columns_.emplace(one.relation, place->first).first;
      }
      const auto read = one.values.find(found->second);
      if (read == one.values.end() || !(read->second == value)) return false;
    }
    // Otherwise a filter on the value selects the bindings of the rank.
    return reads_partition(version.planned, columns_) || !value.operand.is_constant;
  }

  std::set<relation_id> members_;
  partition_columns columns_;
  std::vector<one_version> versions_;
};

}  // namespace

version_value head_value(const plan::rule_version& version, std::uint32_t column) {
  return version_values({}, version).head(column);
}

bool reads_partition(const plan::rule_version& version, const partition_columns& columns) {
  const std::vector<relation_id> needed = plan::needed_relations(version);
  return std::any_of(needed.begin(), needed.end(), [&columns](relation_id one) { return columns.contains(one); });
}

std::optional<partition_columns> find_partition(const plan::program& program, std::size_t number,
                                                const partition_columns& known) {
  const plan::stratum& stratum = program.strata[number];
  bool needs_words_only = true;
  bool any = false;
  plan::for_each_version(stratum, [&](const plan::rule_version& version) {
    any = true;
    needs_words_only = needs_words_only && exec::needs_words_only(version);
  });
  if (!any || !needs_words_only || stratum.relations.empty()) return std::nullopt;
  const relation_id first = stratum.relations.front();
  for (std::uint32_t column = 0; column < program.relations[first.value].kinds.size(); ++column) {
    partition_search search(program, stratum, known);
    if (search.try_column(first, column)) return search.columns();
  }
  return std::nullopt;
}

}  // namespace gpulog::exec
