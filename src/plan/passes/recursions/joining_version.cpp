#include "plan/passes/recursions/joining_version.hpp"

#include <map>
#include <utility>
#include <variant>

namespace gpulog::plan {
namespace {

class version_reader {
 public:
  explicit version_reader(const program& plan) : plan_(plan) {}

  std::optional<joining_version> read(const rule_version& version) {
    for (const operation& one : version.operations) {
      if (const auto* all = std::get_if<scan>(&one)) {
        if (!read_.atoms.empty() || !add(all->relation, all->rows, {}, {}, all->bindings)) return std::nullopt;
      } else if (const auto* joined = std::get_if<match>(&one)) {
        if (read_.atoms.empty() || !joined->others.empty()) return std::nullopt;
        if (!add(joined->relation, joined->rows, joined->index, joined->keys, joined->bindings)) return std::nullopt;
      } else if (const auto* compared = std::get_if<filter>(&one)) {
        read_.comparisons.push_back({*compared, origin_of(compared->left), origin_of(compared->right)});
      } else if (const auto* head = std::get_if<insert>(&one)) {
        if (read_.atoms.empty()) return std::nullopt;
        read_.head = head->relation;
        for (const operand& value : head->values) read_.values.push_back(origin_of(value));
        return std::move(read_);
      } else {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  bool add(relation_id relation, row_part rows, index_id index, const std::vector<operand>& keys,
           const std::vector<column_binding>& bindings) {
    if (plan_.relations[relation.value].is_equivalence) return false;
    joining_version::atom& added = read_.atoms.emplace_back();
    added = {relation, rows, index, {}, bindings.size()};
    for (const operand& key : keys) added.keys.push_back(origin_of(key));
    for (const column_binding& bound : bindings) held_[bound.slot.value] = {read_.atoms.size() - 1, bound.column};
    return true;
  }
  [[nodiscard]] std::optional<value_origin> origin_of(const operand& value) const {
    if (value.is_constant) return std::nullopt;
    return held_.at(value.value);
  }

  const program& plan_;
  joining_version read_;
  std::map<std::uint32_t, value_origin> held_;  // by slot; overwritten with the slot
};

}  // namespace

std::optional<joining_version> read_joining_version(const program& plan, const rule_version& version) {
  return version_reader(plan).read(version);
}

}  // namespace gpulog::plan
