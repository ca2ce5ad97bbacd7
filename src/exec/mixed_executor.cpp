#include "exec/mixed_executor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "exec/reads.hpp"

namespace gpulog::exec {

namespace {

enum side : std::size_t { on_device = 0, on_host = 1 };

side other_of(side one) { return one == on_device ? on_host : on_device; }

bool has_rules(const plan::stratum& stratum) {
  bool any = false;
  for_each_version(stratum, [&](const plan::rule_version&) { any = true; });
  return any;
}

/// Bindings that the planner expects at most between two operators of the stratum.
double most_expected(const plan::stratum& stratum) {
  double most = 0;
  for_each_version(stratum, [&](const plan::rule_version& version) {
    for (const double expected : version.estimates) most = std::max(most, expected);
  });
  return most;
}

class mixed_executor final : public executor {
 public:
  mixed_executor(const plan::program& program, std::unique_ptr<stratum_executor> device,
                 std::unique_ptr<stratum_executor> host, mixing_rules rules)
      : plan_(&program),
        rules_(std::move(rules)),
        sides_{std::move(device), std::move(host)},
        places_(program.relations.size()),
        device_strata_(strata_of_device(program, rules_)) {
    reads_.resize(program.strata.size());
    for (std::size_t s = 0; s < program.strata.size(); ++s) {
      std::vector<relation_id>& reads = reads_[s];
      const auto note = [&](relation_id relation) {
        if (std::find(reads.begin(), reads.end(), relation) == reads.end()) reads.push_back(relation);
      };
      for_each_version(program.strata[s], [&](const plan::rule_version& version) {
        note(version.head);
        for_each_read(version, [&](relation_id relation, index_id, bool) { note(relation); });
      });
      if (!device_strata_[s]) continue;
      for (relation_id relation : reads) places_[relation.value].last_on_device = s;
      for (relation_id relation : program.strata[s].relations) places_[relation.value].may_begin_on_device = true;
    }
  }

  void load(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    if (rows == 0) return;
    place& where = places_[relation.value];
    if (!where.has_rows()) {
      const bool to_device = where.may_begin_on_device && where.last_on_device != never && rows >= rules_.small_rows;
      where.is_at[to_device ? on_device : on_host] = true;
    }
    for (const side one : {on_device, on_host}) {
      if (where.is_at[one]) sides_[one]->load(relation, columns, rows);
    }
  }

  void evaluate() override {
    load_facts(*this, *plan_, rules_.wide);
    for (std::size_t s = 0; s < plan_->strata.size(); ++s) run_stratum(s);
  }

  [[nodiscard]] std::vector<const word*> columns(relation_id relation) override {
    return sides_[side_of(relation)]->columns(relation);
  }
  [[nodiscard]] std::unique_ptr<row_stream> stream_rows(relation_id relation) override {
    return sides_[side_of(relation)]->stream_rows(relation);
  }
  void read_pairs(relation_id relation, std::uint64_t first, std::uint64_t n, word* const* columns) const override {
    sides_[side_of(relation)]->read_pairs(relation, first, n, columns);
  }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override {
    return sides_[side_of(relation)]->rows(relation);
  }

  [[nodiscard]] const statistics& figures() override {
    figures_.memory_bytes = figures_.peak_memory_bytes = figures_.allocations = 0;
    for (const auto& one : sides_) {
      const statistics& own = one->figures();
      figures_.memory_bytes += own.memory_bytes;
      figures_.peak_memory_bytes += own.peak_memory_bytes;
      figures_.allocations += own.allocations;
    }
    return figures_;
  }

 private:
  static constexpr std::size_t never = SIZE_MAX;

  /// Where the rows of a relation are; nowhere: it has none.
  struct place {
    std::array<bool, 2> is_at = {false, false};
    std::size_t last_on_device = never;  ///< the last stratum that may read or extend it there
    bool may_begin_on_device = false;    ///< whether its own stratum may be there

    [[nodiscard]] bool has_rows() const { return is_at[on_device] || is_at[on_host]; }
  };
  struct choice {
    side where;
    std::string reason;
  };

  [[nodiscard]] side side_of(relation_id relation) const {
    const place& where = places_[relation.value];
    return where.is_at[on_device] && !where.is_at[on_host] ? on_device : on_host;
  }

  [[nodiscard]] choice choose(std::size_t number) const {
    const plan::stratum& stratum = plan_->strata[number];
    if (!device_strata_[number]) return {on_host, rules_.why_not_on_device[number]};
    const choice device = {on_device, rules_.host_steps.empty() ? std::string() : rules_.host_steps[number]};
    if (stratum.recursive || rules_.small_rows == 0) return device;
    std::uint64_t rows = 0;
    for (relation_id relation : reads_[number]) {
      const place& where = places_[relation.value];
      if (where.has_rows() && !where.is_at[on_host]) return device;
      rows += this->rows(relation);
    }
    // A product of small inputs can be large.
    constexpr double most_expected_per_row = 16;
    const bool is_small = rows < rules_.small_rows &&
                          most_expected(stratum) < most_expected_per_row * static_cast<double>(rules_.small_rows);
    if (!is_small) return device;
    return {on_host, "it reads only " + std::to_string(rows) + " rows, which are there"};
  }

  void run_stratum(std::size_t number) {
    if (!has_rules(plan_->strata[number])) {
      run_inputs(number);
    } else {
      const choice chosen = choose(number);
      const side other = other_of(chosen.where);
      for (relation_id relation : reads_[number]) bring(relation, chosen.where);
      sides_[chosen.where]->run_stratum(number);
      sides_[other]->skip_stratum(number);
      for (relation_id relation : plan_->strata[number].relations) {
        place& where = places_[relation.value];
        if (where.is_at[other]) sides_[other]->release(relation);  // it lacks the rows that were added
        where.is_at[other] = false;
        where.is_at[chosen.where] = sides_[chosen.where]->rows(relation) != 0;
      }
      add_figures(chosen);
    }
    for (std::uint32_t r = 0; r < places_.size(); ++r) {
      place& where = places_[r];
      const bool is_needed = where.last_on_device != never && where.last_on_device > number;
      if (is_needed || !where.is_at[on_device] || !where.is_at[on_host]) continue;
      sides_[on_device]->release(relation_id(r));
      where.is_at[on_device] = false;
    }
  }

  /// A stratum without rules: its relations stay where they were loaded.
  void run_inputs(std::size_t number) {
    const std::vector<relation_id>& relations = plan_->strata[number].relations;
    for (const auto& one : sides_) one->run_stratum(number);
    const auto at = [this](relation_id relation) { return side_of(relation); };
    add_figures({relations.empty() ? on_host : at(relations.front()), {}});
    std::vector<relation_statistics>& figures = figures_.strata.back().relations;
    for (std::size_t r = 0; r < relations.size(); ++r) {
      figures[r] = sides_[at(relations[r])]->figures().strata.back().relations[r];
    }
  }

  void add_figures(const choice& chosen) {
    stratum_statistics& figures = figures_.strata.emplace_back(sides_[chosen.where]->figures().strata.back());
    figures.backend = chosen.where == on_device ? rules_.device_name : rules_.host_name;
    figures.reason = chosen.reason;
  }

  /// Copies a relation to a side, unless it is there.
  void bring(relation_id relation, side to) {
    place& where = places_[relation.value];
    if (where.is_at[to] || !where.has_rows()) return;
    stratum_executor& from = *sides_[other_of(to)];
    sides_[to]->adopt(relation, from.columns(relation), from.rows(relation));
    from.forget_columns(relation);
    where.is_at[to] = true;
  }

  const plan::program* plan_;
  mixing_rules rules_;
  std::array<std::unique_ptr<stratum_executor>, 2> sides_;  // by side
  std::vector<place> places_;                               // by relation_id
  std::vector<bool> device_strata_;                         // by stratum
  std::vector<std::vector<relation_id>> reads_;             // by stratum: also what it extends
  statistics figures_;
};

}  // namespace

std::vector<bool> strata_of_host(const plan::program& program, const mixing_rules& rules) {
  std::vector<bool> strata(program.strata.size());
  for (std::size_t s = 0; s < strata.size(); ++s) {
    strata[s] = !rules.why_not_on_device[s].empty() || (rules.small_rows != 0 && !program.strata[s].recursive);
  }
  return strata;
}

std::vector<bool> strata_of_device(const plan::program& program, const mixing_rules& rules) {
  std::vector<bool> strata(program.strata.size());
  for (std::size_t s = 0; s < strata.size(); ++s) strata[s] = rules.why_not_on_device[s].empty();
  return strata;
}

std::unique_ptr<executor> make_mixed_executor(const plan::program& program, std::unique_ptr<stratum_executor> device,
                                              std::unique_ptr<stratum_executor> host, mixing_rules rules) {
  return std::make_unique<mixed_executor>(program, std::move(device), std::move(host), std::move(rules));
}

}  // namespace gpulog::exec
