#include "plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <deque>
#include <iterator>
#include <map>
#include <utility>

#include "plan/cost_model.hpp"
#include "plan/draft.hpp"
#include "plan/index_selection.hpp"
#include "plan/join_order.hpp"
#include "plan/normalized_rule.hpp"
#include "plan/supplementary.hpp"
#include "plan/validate.hpp"

namespace gpulog::plan {
namespace {

/// The order that `.plan` gives for a version, if it is one of all atoms.
const std::vector<std::uint32_t>* forced_order(const normalized_rule& rule, std::uint32_t version) {
  for (const sema::execution_order& written : rule.plans) {
    if (written.version != version || written.order.size() != rule.atoms.size()) continue;
    std::vector<std::uint32_t> positions = written.order;
    std::sort(positions.begin(), positions.end());
    for (std::uint32_t position = 0; position < positions.size(); ++position) {
      if (positions[position] != position) return nullptr;
    }
    return &written.order;
  }
  return nullptr;
}

struct draft_phase {
  std::deque<draft> versions;  // pointers to them stay valid
  std::vector<relation_id> advance;
};

struct draft_stratum {
  std::vector<relation_id> relations;
  bool recursive = false;
  draft_phase once;
  std::vector<draft_phase> loop;
};

class planner {
 public:
  planner(const sema::program& source, const statistics& known, const options& chosen)
      : source_(source), chosen_(chosen), costs_(source, known) {}

  program make() {
    add_relations();
    add_facts();
    for (const sema::stratum& planned : source_.strata) plan_stratum(planned);
    choose_indexes();
    result_.symbols = source_.symbols;
    assert(validate(result_).empty());
    return std::move(result_);
  }

 private:
  void add_relations() {
    for (const sema::relation& declared : source_.relations) {
      relation added;
      added.name = declared.name;
      for (const sema::attribute& attribute : declared.attributes) {
        added.attribute_names.push_back(attribute.name);
        added.kinds.push_back(attribute.kind);
      }
      added.size_limit = declared.size_limit.value_or(0);
      arities_.push_back(declared.arity());
      result_.relations.push_back(std::move(added));
    }
  }

  void add_facts() {
    std::vector<std::size_t> block_of(source_.relations.size(), source_.facts.size());
    for (const sema::fact& fact : source_.facts) {
      std::size_t& block = block_of[fact.relation.value];
      if (block == source_.facts.size()) {
        block = result_.facts.size();
        result_.facts.push_back({fact.relation, {}, 0});
      }
      fact_block& extended = result_.facts[block];
      extended.values.insert(extended.values.end(), fact.values.begin(), fact.values.end());
      ++extended.rows;
    }
  }

  void plan_stratum(const sema::stratum& planned) {
    std::vector<normalized_rule> rules;
    for (const rule_id id : planned.rules) {
      normalized_rule rule = normalize(source_[id]);
      if (rule.unsatisfiable) {
        result_.remarks.push_back(fmt::format("never holds, left out: {}", rule.text));
      } else {
        rules.push_back(std::move(rule));
      }
    }

    draft_stratum& target = strata_.emplace_back();
    target.relations = planned.relations;
    target.recursive = planned.recursive;
    if (planned.recursive && makes_supplementary()) {
      factored_stratum factored = factor_rules(std::move(rules), planned.relations);
      target.relations.insert(target.relations.end(), factored.added.begin(), factored.added.end());
      target.loop.resize(factored.own_level + 1);
      for (std::size_t number = 0; number < factored.added.size(); ++number) {
        target.loop[factored.levels[number]].advance.push_back(factored.added[number]);
      }
      for (const factored_rule& planned_rule : factored.rules) plan_rule(planned_rule.rule, target, planned_rule.level);
      std::move(factored.remarks.begin(), factored.remarks.end(), std::back_inserter(result_.remarks));
    } else {
      if (planned.recursive) target.loop.resize(1);
      for (const normalized_rule& rule : rules) plan_rule(rule, target, 0);
    }
    if (planned.recursive) target.loop.back().advance = planned.relations;
    target.once.advance = target.relations;
  }

  [[nodiscard]] bool makes_supplementary() const {
    const auto pragma = source_.pragmas.find("supplementary");
    const bool is_off = pragma != source_.pragmas.end() && pragma->second == "off";
    return chosen_.supplementary == supplementary_mode::automatic && !is_off;
  }

  factored_stratum factor_rules(std::vector<normalized_rule> rules, const std::vector<relation_id>& members) {
    const relation_maker make_relation = [this](relation_id head, std::vector<std::string> attribute_names,
                                                std::vector<value_kind> kinds) {
      const relation_id id(static_cast<std::uint32_t>(result_.relations.size()));
      relation added;
      added.name = fmt::format("{}@{}", result_.relations[head.value].name, ++supplementary_of_[head]);
      added.attribute_names = std::move(attribute_names);
      added.supplementary = true;
      const auto arity = static_cast<std::uint32_t>(kinds.size());
      added.kinds = std::move(kinds);
      arities_.push_back(arity);
      costs_.add_relation(arity, costs_.rows(head, part::all));
      result_.relations.push_back(std::move(added));
      return id;
    };
    const relation_namer name_of = [this](relation_id id) { return result_.relations[id.value].name; };
    return factor(std::move(rules), members, source_, make_relation, name_of);
  }

  /// One version for each atom of the own stratum. Each combination of rows is then found in exactly one version: the
  /// one whose delta atom is the last that reads a new row. Hence old rows before the delta atom, all rows behind.
  /// `level`: phase of the loop that the versions belong to.
  void plan_rule(const normalized_rule& rule, draft_stratum& target, std::uint32_t level) {
    std::vector<std::uint32_t> recursive;
    for (std::uint32_t atom = 0; atom < rule.atoms.size(); ++atom) {
      const std::vector<relation_id>& members = target.relations;
      const bool is_member = std::find(members.begin(), members.end(), rule.atoms[atom].relation) != members.end();
      if (target.recursive && is_member) recursive.push_back(atom);
    }
    version_parts parts;
    parts.atoms.assign(rule.atoms.size(), part::all);
    if (recursive.empty()) {
      add_version(rule, parts, forced_order(rule, 0), target.once);
      return;
    }
    for (std::uint32_t version = 0; version < recursive.size(); ++version) {
      parts.delta_atom = recursive[version];
      parts.atoms[recursive[version]] = part::delta;
      add_version(rule, parts, forced_order(rule, version), target.loop[level]);
      parts.atoms[recursive[version]] = part::old;
    }
  }

  void add_version(const normalized_rule& rule, const version_parts& parts, const std::vector<std::uint32_t>* forced,
                   draft_phase& target) {
    draft& added = target.versions.emplace_back(build_draft(rule, parts, order_body(rule, parts, costs_, forced)));
    simplify(added, arities_);
  }

  void choose_indexes() {
    std::vector<draft*> drafts;
    const auto collect = [&drafts](draft_phase& from) {
      for (draft& version : from.versions) drafts.push_back(&version);
    };
    for (draft_stratum& planned : strata_) {
      collect(planned.once);
      for (draft_phase& repeated : planned.loop) collect(repeated);
    }
    result_.indexes = select_indexes(drafts, arities_);

    const auto finish_phase = [](draft_phase& from) {
      phase finished;
      for (draft& version : from.versions) finished.versions.push_back(finish(std::move(version)));
      finished.advance = std::move(from.advance);
      return finished;
    };
    for (draft_stratum& planned : strata_) {
      stratum& added = result_.strata.emplace_back();
      added.relations = std::move(planned.relations);
      added.recursive = planned.recursive;
      added.once = finish_phase(planned.once);
      for (draft_phase& repeated : planned.loop) added.loop.push_back(finish_phase(repeated));
    }
  }

  const sema::program& source_;
  const options& chosen_;
  cost_model costs_;
  std::vector<std::uint32_t> arities_;
  std::map<relation_id, std::uint32_t> supplementary_of_;  // how many each relation has
  std::deque<draft_stratum> strata_;
  program result_;
};

}  // namespace

program make_plan(const sema::program& source, const statistics& known, const options& chosen) {
  return planner(source, known, chosen).make();
}

}  // namespace gpulog::plan
