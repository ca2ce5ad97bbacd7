#include "plan/passes/recursions/decomposition.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "plan/pass.hpp"
#include "plan/rules/passages.hpp"

namespace gpulog::plan {
namespace {

/// Returns the column that binds a slot.
std::optional<std::uint32_t> column_of(const std::vector<column_binding>& bindings, const operand& searched) {
  const auto found = std::find_if(bindings.begin(), bindings.end(), [&searched](const column_binding& one) {
    return searched == operand::slot(one.slot);
  });
  if (searched.is_constant || found == bindings.end()) return std::nullopt;
  return found->column;
}

/// `for delta R(p,z), match e[z] -> y, insert S(p,y)`, or the same without the match.
struct linear_version {
  const scan* from = nullptr;
  const match* to = nullptr;  ///< nullptr: no match
  const insert* head = nullptr;
};

std::optional<linear_version> linear_version_of(const rule_version& version) {
  const std::size_t operators = version.operations.size();
  if (operators < 2 || operators > 3) return std::nullopt;
  linear_version linear;
  linear.from = std::get_if<scan>(&version.operations.front());
  linear.head = std::get_if<insert>(&version.operations.back());
  if (operators == 3) linear.to = std::get_if<match>(&version.operations[1]);
  if (linear.from == nullptr || linear.head == nullptr || (operators == 3 && linear.to == nullptr)) return std::nullopt;
  if (linear.from->rows != part::delta) return std::nullopt;
  return linear;
}

class decomposition_search {
 public:
  decomposition_search(const program& plan, const stratum& considered) : plan_(plan), considered_(considered) {
    for (const relation_id id : considered.relations) {
      numbers_.emplace(id, static_cast<std::uint32_t>(numbers_.size()));
      arities_.push_back(static_cast<std::uint32_t>(plan.relations[id.value].kinds.size()));
    }
  }

  /// Returns the decomposition by the columns that all versions of the rules pass through.
  [[nodiscard]] std::optional<decomposition> find() const {
    std::vector<linear_version> versions;
    for (const rule_version& version : considered_.loop.front().versions) {
      const auto linear = linear_version_of(version);
      if (!linear || !numbers_.contains(linear->from->relation)) return std::nullopt;
      if (linear->to != nullptr && numbers_.contains(linear->to->relation)) return std::nullopt;
      versions.push_back(*linear);
    }
    std::vector<passage> passages;
    for (const linear_version& version : versions) passages.push_back(passage_of(version));
    const auto invariants = find_invariant_columns(arities_, passages);
    if (invariants.empty()) return std::nullopt;
    decomposition result = begin_with(invariants);
    for (const linear_version& version : versions) {
      auto step = step_of(version, result);
      if (!step) return std::nullopt;
      result.steps.push_back(std::move(*step));
    }
    return result;
  }

  /// Returns the decomposition of one binary relation with doubling rules, by one of its columns.
  [[nodiscard]] std::optional<decomposition> find_doubling(std::uint32_t invariant) const {
    if (arities_ != std::vector<std::uint32_t>{2}) return std::nullopt;
    decomposition result = begin_with({{invariant}});
    const decomposition other = begin_with({{1 - invariant}});
    std::map<rule_id, bool> is_covered;
    for (const rule_version& version : considered_.loop.front().versions) {
      const auto linear = linear_version_of(version);
      if (!linear || linear->to == nullptr || !numbers_.contains(linear->from->relation)) return std::nullopt;
      is_covered.try_emplace(version.rule, false);
      if (auto step = step_of(*linear, result)) {
        is_covered[version.rule] = true;
        result.steps.push_back(std::move(*step));
        continue;
      }
      // One version of a doubling rule is enough; the second version passes the second column.
      if (!numbers_.contains(linear->to->relation) || !step_of(*linear, other)) return std::nullopt;
    }
    const bool all_covered =
        std::all_of(is_covered.begin(), is_covered.end(), [](const auto& one) { return one.second; });
    if (!all_covered || result.steps.empty()) return std::nullopt;
    return result;
  }

 private:
  /// Returns the columns that the version passes through without using them as a key.
  [[nodiscard]] passage passage_of(const linear_version& version) const {
    passage way{numbers_.at(version.from->relation), numbers_.at(version.head->relation), {}};
    for (std::uint32_t column = 0; column < version.head->values.size(); ++column) {
      const operand& value = version.head->values[column];
      const bool is_asked = version.to != nullptr && std::find(version.to->keys.begin(), version.to->keys.end(),
                                                               value) != version.to->keys.end();
      const auto passed = column_of(version.from->bindings, value);
      if (passed && !is_asked) way.columns.emplace_back(*passed, column);
    }
    return way;
  }

  [[nodiscard]] decomposition begin_with(const std::vector<std::vector<std::uint32_t>>& invariants) const {
    decomposition made;
    for (std::size_t number = 0; number < arities_.size(); ++number) {
      decomposed_member& member = made.members.emplace_back();
      member.relation = considered_.relations[number];
      member.invariants = invariants[number];
      for (std::uint32_t column = 0; column < arities_[number]; ++column) {
        if (std::find(member.invariants.begin(), member.invariants.end(), column) == member.invariants.end())
          member.nodes.push_back(column);
      }
    }
    return made;
  }

  /// Returns the step from node columns to node columns, if the invariant columns are passed through and are not keys.
  [[nodiscard]] std::optional<decomposed_step> step_of(const linear_version& version, const decomposition& own) const {
    const decomposed_member& from = own.members[numbers_.at(version.from->relation)];
    const decomposed_member& to = own.members[numbers_.at(version.head->relation)];
    const auto is_node = [&from](std::uint32_t column) {
      return std::find(from.nodes.begin(), from.nodes.end(), column) != from.nodes.end();
    };
    for (std::size_t invariant = 0; invariant < from.invariants.size(); ++invariant) {
      if (column_of(version.from->bindings, version.head->values[to.invariants[invariant]]) !=
          from.invariants[invariant])
        return std::nullopt;
    }
    decomposed_step step;
    step.from = numbers_.at(version.from->relation);
    step.to = numbers_.at(version.head->relation);
    if (version.to == nullptr) {
      for (const std::uint32_t node : to.nodes) {
        const auto column = column_of(version.from->bindings, version.head->values[node]);
        if (!column || !is_node(*column)) return std::nullopt;
        step.columns.push_back(*column);
      }
      return step;
    }
    step.relation = version.to->relation;
    step.index = version.to->index;
    const std::vector<std::uint32_t>& order = plan_.indexes[step.index.value].order;
    for (std::size_t key = 0; key < version.to->keys.size(); ++key) {
      const auto column = column_of(version.from->bindings, version.to->keys[key]);
      if (!column || !is_node(*column)) return std::nullopt;
      // In e(y,y,z) a node occurs twice in the key, and no level of the index contains the node alone.
      const auto& asked = step.from_columns;
      if (std::find(asked.begin(), asked.end(), *column) != asked.end()) return std::nullopt;
      step.from_columns.push_back(*column);
      step.key.push_back(order[key]);
    }
    for (const std::uint32_t node : to.nodes) {
      const operand& value = version.head->values[node];
      const auto key = std::find(version.to->keys.begin(), version.to->keys.end(), value);
      auto column = column_of(version.to->bindings, value);
      if (!column && key != version.to->keys.end())
        column = order[static_cast<std::size_t>(key - version.to->keys.begin())];
      if (!column) return std::nullopt;
      step.columns.push_back(*column);
    }
    return step;
  }

  const program& plan_;
  const stratum& considered_;
  std::map<relation_id, std::uint32_t> numbers_;  // by relation of the stratum
  std::vector<std::uint32_t> arities_;
};

}  // namespace

bool may_fall_apart(const relation& own) {
  return own.kinds.size() >= 2 && own.size_limit == 0 && own.choice_domains.empty() && !own.is_equivalence;
}

std::optional<decomposition> find_decomposition(const program& plan, const stratum& considered) {
  if (!considered.recursive || considered.loop.size() != 1 || !considered.subsumptions.empty()) return std::nullopt;
  const bool may = std::all_of(considered.relations.begin(), considered.relations.end(),
                               [&plan](relation_id id) { return may_fall_apart(plan.relations[id.value]); });
  if (!may) return std::nullopt;
  // The pairs of an equivalence relation are in no index.
  for (const rule_version& version : considered.loop.front().versions) {
    for (const operation& one : version.operations) {
      const auto* const search = std::get_if<match>(&one);
      if (search != nullptr && plan.relations[search->relation.value].is_equivalence) return std::nullopt;
    }
  }
  const decomposition_search search(plan, considered);
  auto found = search.find();
  if (!found) found = search.find_doubling(0);
  return found ? found : search.find_doubling(1);
}

void find_decompositions(planning& shared) {
  for (stratum& one : shared.result.strata) one.decomposed = find_decomposition(shared.result, one);
}

}  // namespace gpulog::plan
