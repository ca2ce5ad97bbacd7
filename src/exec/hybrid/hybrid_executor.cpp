#include "exec/hybrid/hybrid_executor.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "exec/hybrid/expected_work.hpp"
#include "exec/hybrid/stratum_parts.hpp"
#include "exec/stop_watch.hpp"
#include "kernels/join/pipeline.hpp"
#include "plan/reads.hpp"
#include "storage/relation/relation.hpp"
#include "support/error.hpp"

namespace gpulog::exec {

namespace {

bool has_rules(const plan::stratum& stratum) {
  bool any = false;
  for_each_version(stratum, [&](const plan::rule_version&) { any = true; });
  return any;
}

/// A device that needs no start.
class present_device final : public device_source {
 public:
  explicit present_device(std::unique_ptr<stratum_executor> device) : device_(std::move(device)) {}
  [[nodiscard]] double ready_in() const override { return 0; }
  [[nodiscard]] std::unique_ptr<stratum_executor> make() override { return std::move(device_); }

 private:
  std::unique_ptr<stratum_executor> device_;
};

class hybrid_executor final : public executor {
 public:
  hybrid_executor(const plan::program& program, std::unique_ptr<device_source> device,
                  std::unique_ptr<stratum_executor> host, placement_rules rules)
      : plan_(&program),
        rules_(std::move(rules)),
        device_(std::move(device)),
        sides_{nullptr, std::move(host)},
        places_(program.relations.size()),
        device_strata_(strata_of_device(program, rules_)),
        costs_(rules_.costs.value_or(placement_costs(1))) {
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
      const bool may_be_there = where.may_begin_on_device && where.last_on_device != never;
      where.is_at(may_be_there && loads_on_device(columns.size(), rows) && has_device() ? side::device : side::host) =
          true;
    }
    for (const side one : {side::device, side::host}) {
      if (where.is_at(one)) at(one).load(relation, columns, rows);
    }
  }

  void evaluate() override {
    load_facts(*this, *plan_, rules_.wide);
    for (next_stratum_ = 0; next_stratum_ < plan_->strata.size(); ++next_stratum_) {
      reoptimize(next_stratum_);
      run_stratum(next_stratum_);
      free_copies(next_stratum_);
    }
  }

  [[nodiscard]] std::vector<const word*> columns(relation_id relation) override {
    return at(side_of(relation)).columns(relation);
  }
  [[nodiscard]] std::unique_ptr<row_stream> stream_rows(relation_id relation) override {
    return at(side_of(relation)).stream_rows(relation);
  }
  [[nodiscard]] std::optional<columns_on_device> device_columns(relation_id relation) override {
    place& where = places_[relation.value];
    return where.is_at(side::device) ? at(side::device).device_columns(relation) : std::nullopt;
  }
  void read_pairs(relation_id relation, std::uint64_t first, std::uint64_t n, word* const* columns) const override {
    at(side_of(relation)).read_pairs(relation, first, n, columns);
  }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override { return holder_of(relation).rows(relation); }
  std::vector<key_search> key_searches(relation_id one) const override { return holder_of(one).key_searches(one); }
  std::vector<storage::sampled_rows> sample(const std::vector<relation_id>& asked, std::uint64_t wanted) override {
    std::map<stratum_executor*, std::vector<relation_id>> held;
    for (const relation_id relation : asked) held[&holder_of(relation)].push_back(relation);
    std::map<relation_id, storage::sampled_rows> taken;
    for (const auto& [holder, own] : held) {
      std::vector<storage::sampled_rows> samples = holder->sample(own, wanted);
      for (std::size_t i = 0; i < own.size(); ++i) taken[own[i]] = std::move(samples[i]);
    }
    std::vector<storage::sampled_rows> samples;
    for (const relation_id relation : asked) samples.push_back(std::move(taken[relation]));
    return samples;
  }

  [[nodiscard]] const statistics& figures() override {
    figures_.memory_bytes = figures_.peak_memory_bytes = figures_.allocations = 0;
    for (const auto& one : sides_) {
      if (one == nullptr) continue;
      const statistics& own = one->figures();
      figures_.memory_bytes += own.memory_bytes;
      figures_.peak_memory_bytes += own.peak_memory_bytes;
      figures_.allocations += own.allocations;
    }
    if (running_ == nullptr || running_->figures().strata.empty()) return figures_;
    seen_ = figures_;
    seen_.strata.push_back(running_->figures().strata.back());
    return seen_;
  }

 private:
  static constexpr std::size_t never = SIZE_MAX;

  /// Where the rows of a relation are. Neither side: the relation is empty.
  struct place {
    std::array<bool, 2> sides = {false, false};
    std::size_t last_on_device = never;  ///< last stratum that may read or extend the relation on the device
    bool may_begin_on_device = false;    ///< whether the relation's stratum may run on the device

    [[nodiscard]] bool& is_at(side one) { return sides[static_cast<std::size_t>(one)]; }
    [[nodiscard]] bool is_at(side one) const { return sides[static_cast<std::size_t>(one)]; }
    [[nodiscard]] bool has_rows() const { return is_at(side::device) || is_at(side::host); }
  };
  struct choice {
    side where;
    std::string reason;
  };

  [[nodiscard]] stratum_executor& at(side one) const { return *sides_[static_cast<std::size_t>(one)]; }
  [[nodiscard]] side side_of(relation_id relation) const {
    const place& where = places_[relation.value];
    return where.is_at(side::device) && !where.is_at(side::host) ? side::device : side::host;
  }
  /// Relations of the running stratum are on the side that runs the stratum.
  [[nodiscard]] stratum_executor& holder_of(relation_id relation) const {
    if (extending_ != nullptr && is_extended_by(next_stratum_, relation)) return *extending_;
    return at(side_of(relation));
  }
  [[nodiscard]] const std::string& name_of(side one) const {
    return one == side::device ? rules_.device_name : rules_.host_name;
  }

  /// Creates the device's executor on first use, waiting for the device if necessary.
  [[nodiscard]] bool has_device() {
    auto& made = sides_[static_cast<std::size_t>(side::device)];
    if (made != nullptr || device_ == nullptr) return made != nullptr;
    stop_watch_.reset();  // no stratum has to wait any more
    made = device_->make();
    if (made) costs_.set_device(device_->bytes_per_second());
    device_.reset();
    for (std::size_t s = 0; made != nullptr && s < next_stratum_; ++s) made->skip_stratum(s);
    return made != nullptr;
  }
  [[nodiscard]] double ready_in() const {
    if (sides_[static_cast<std::size_t>(side::device)] != nullptr) return 0;
    return device_ == nullptr ? HUGE_VAL : device_->ready_in();
  }

  [[nodiscard]] bool loads_on_device(std::size_t columns, std::uint64_t rows) const {
    if (!rules_.costs) return !rules_.move_at;
    const std::uint64_t bytes = columns * sizeof(word);
    return ready_in() + costs_.loading_seconds(side::device, rows, bytes) <
           costs_.loading_seconds(side::host, rows, bytes);
  }

  [[nodiscard]] stratum_work work_of(std::size_t number) const {
    stratum_work work = expected_work(plan_->strata[number], [this](relation_id relation) { return rows(relation); });
    work.has_host_steps = !rules_.host_steps.empty() && !rules_.host_steps[number].empty();
    return work;
  }

  /// Returns the time to copy missing inputs of a stratum to a side.
  [[nodiscard]] double crossing_seconds(std::size_t number, side to) const {
    std::size_t relations = 0;
    std::uint64_t bytes = 0;
    for (const relation_id relation : reads_[number]) {
      const place& where = places_[relation.value];
      if (!where.has_rows() || where.is_at(to)) continue;
      ++relations;
      bytes += rows(relation) * plan_->relations[relation.value].kinds.size() * sizeof(word);
    }
    return placement_costs::crossing_seconds(relations, bytes);
  }

  [[nodiscard]] choice choose(std::size_t number) const {
    const plan::stratum& stratum = plan_->strata[number];
    if (!device_strata_[number]) return {side::host, rules_.why_not_on_device[number]};
    const std::string steps = rules_.host_steps.empty() ? std::string() : rules_.host_steps[number];
    if (rules_.move_at && can_be_moved(*plan_, stratum)) return {side::host, "it begins here"};
    const bool is_wanted_there = !rules_.wanted_on_device.empty() && rules_.wanted_on_device[number];
    if (!rules_.costs || is_wanted_there) return {side::device, steps};
    const stratum_work work = work_of(number);
    const double host = costs_.seconds(side::host, work) + crossing_seconds(number, side::host);
    const double waiting = ready_in();
    const double device = waiting + costs_.seconds(side::device, work) + crossing_seconds(number, side::device);
    const side chosen = host <= device ? side::host : side::device;
    if (chosen == side::device && !steps.empty()) return {chosen, steps};
    if (std::isinf(device)) return {chosen, "there is no " + rules_.device_name + " device"};
    return {chosen, expectation(host, device) + (waiting > 0 ? ", which has not started yet" : "")};
  }
  [[nodiscard]] std::string expectation(double host, double device) const {
    constexpr double ms = 1e3;
    return fmt::format("expected: {:.2g} ms on {}, {:.2g} ms on {}", host * ms, rules_.host_name, device * ms,
                       rules_.device_name);
  }

  void run_stratum(std::size_t number) {
    if (!has_rules(plan_->strata[number])) {
      run_inputs(number);
    } else {
      choice chosen = choose(number);
      if (chosen.where == side::device && !has_device())
        chosen = {side::host, "there is no " + rules_.device_name + " device"};
      for (relation_id relation : reads_[number]) bring(relation, chosen.where);
      run_rules(number, chosen);
    }
  }

  void reoptimize(std::size_t number) const {
    if (!rules_.reoptimize || !rules_.reoptimize(number)) return;
    for (const auto& one : sides_) {
      if (one != nullptr) one->take_over_plan(number);
    }
  }

  /// Hands a changed plan to the sides that do not run the stratum; the running side applies the plan itself.
  bool applied_elsewhere(std::size_t number, bool is_changed) const {
    for (const auto& one : sides_) {
      if (is_changed && one != nullptr && one.get() != extending_) one->take_over_plan(number);
    }
    return is_changed;
  }
  /// Callbacks that may change the plan of a stratum while it runs.
  [[nodiscard]] stratum_stops stops_of_plan(std::size_t number) const {
    stratum_stops stops;
    if (rules_.reoptimize_loop)
      stops.reoptimize_loop = [this, number] { return applied_elsewhere(number, rules_.reoptimize_loop(number)); };
    if (rules_.put_back) {
      stops.put_back = [this, number](std::size_t version) {
        return applied_elsewhere(number, rules_.put_back(number, version));
      };
    }
    stops.supplementary = rules_.supplementary;
    if (!stops.supplementary.abandon) return stops;
    stops.supplementary.abandon = [this](std::size_t stratum, relation_id supplementary) {
      std::vector<relation_id> abandoned = rules_.supplementary.abandon(stratum, supplementary);
      applied_elsewhere(stratum, !abandoned.empty());
      return abandoned;
    };
    return stops;
  }

  /// Frees device copies that no later stratum needs.
  void free_copies(std::size_t number) {
    for (std::uint32_t r = 0; r < places_.size(); ++r) {
      place& where = places_[r];
      const bool is_needed = where.last_on_device != never && where.last_on_device > number;
      if (is_needed || !where.is_at(side::device) || !where.is_at(side::host)) continue;
      at(side::device).release(relation_id(r));
      where.is_at(side::device) = false;
    }
  }

  void run_rules(std::size_t number, choice chosen) {
    // A watch would report the interruption only later.
    if (rules_.stop != nullptr && *rules_.stop) throw kernels::interrupted{};
    recursion_watch watch(costs_, shape_of(number));
    const bool is_on_host = chosen.where == side::host;
    stratum_stops stops = stops_of_plan(number);
    if (is_on_host && may_be_left(number)) stops.now = begin_stop_watch(number);
    if (is_on_host && may_be_moved(number)) {
      stops.between_iterations = [&](std::uint64_t iterations, std::uint64_t delta_rows) {
        // From this iteration on, the device can continue instead of starting over.
        if (iterations > 0 && stop_watch_) stop_watch_->end();
        if (rules_.move_at) return iterations == *rules_.move_at;
        return watch.should_move({storage::seconds_now(), delta_rows, ready_in()},
                                 [&] { return moving_seconds(number); });
      };
    }
    std::optional<stopped_recursion> stopped;
    const double begin = storage::seconds_now();
    running_ = extending_ = &at(chosen.where);
    try {
      stopped = at(chosen.where).run_until(number, stops);
    } catch (const kernels::interrupted&) {
      if (stops.now == nullptr || (rules_.stop != nullptr && *rules_.stop)) throw;
      chosen = begin_anew_on_device(number, storage::seconds_now() - begin);
    }
    if (stop_watch_) stop_watch_->end();
    running_ = nullptr;
    add_figures(number, chosen);
    if (stopped) {
      stops.between_iterations = {};
      stops.now = nullptr;
      chosen.where = go_on_with(number, *stopped, stops) ? side::device : side::host;
      stratum_statistics& figures = figures_.strata.back();
      add_part(figures, at(chosen.where).figures().strata.back());
      if (chosen.where == side::device) {
        figures.iterations_before_move = stopped->deltas.size();
        figures.backend = rules_.device_name;
        figures.reason = fmt::format("{} iterations on {}, then {} here: the next one was {}", stopped->deltas.size(),
                                     rules_.host_name, figures.iterations - stopped->deltas.size(),
                                     expectation(watch.next_host_seconds(), watch.next_device_seconds()));
      }
    }
    leave_at(number, chosen.where);
  }

  /// Returns whether the device can restart a stratum of the host: the rules extend only empty relations of the
  /// stratum.
  [[nodiscard]] bool may_be_left(std::size_t number) const {
    if (!rules_.costs || !device_strata_[number] || ready_in() == 0 || std::isinf(ready_in())) return false;
    if (!rules_.host_steps.empty() && !rules_.host_steps[number].empty()) return false;
    const std::vector<relation_id>& members = plan_->strata[number].relations;
    return std::none_of(members.begin(), members.end(),
                        [this](relation_id relation) { return places_[relation.value].has_rows(); });
  }

  /// @return the flag that makes the host stop
  [[nodiscard]] const std::atomic<bool>* begin_stop_watch(std::size_t number) {
    // The host may run as long as the device would need, since that time may be lost.
    const double least = costs_.seconds(side::device, work_of(number)) + crossing_seconds(number, side::device);
    if (!stop_watch_) stop_watch_.emplace([this] { return device_->ready_in() == 0; }, rules_.stop);
    return stop_watch_->begin(least);
  }

  choice begin_anew_on_device(std::size_t number, double seconds) {
    if (!has_device()) throw internal_error("a device that was ready has disappeared");
    for (relation_id relation : plan_->strata[number].relations) at(side::host).release(relation);
    for (relation_id relation : reads_[number]) bring(relation, side::device);
    running_ = extending_ = &at(side::device);
    stratum_stops stops = stops_of_plan(number);
    static_cast<void>(at(side::device).run_until(number, stops));
    constexpr double ms = 1e3;
    return {side::device, fmt::format("begun anew here when the device was ready, after {:.2g} ms on {}", seconds * ms,
                                      rules_.host_name)};
  }

  [[nodiscard]] iteration_shape shape_of(std::size_t number) const {
    const plan::stratum& stratum = plan_->strata[number];
    const bool is_narrow = std::all_of(stratum.relations.begin(), stratum.relations.end(),
                                       [this](relation_id id) { return plan_->relations[id.value].kinds.size() <= 2; });
    return {versions_in(stratum.loop), is_narrow && (rules_.host_steps.empty() || rules_.host_steps[number].empty())};
  }

  [[nodiscard]] bool may_be_moved(std::size_t number) const {
    return (rules_.costs || rules_.move_at) && device_strata_[number] && !std::isinf(ready_in()) &&
           can_be_moved(*plan_, plan_->strata[number]);
  }

  /// Records that the relations of the stratum are only on this side, and skips the stratum on the opposite side.
  void leave_at(std::size_t number, side here) {
    extending_ = nullptr;
    const side other = other_of(here);
    if (sides_[static_cast<std::size_t>(other)] != nullptr) at(other).skip_stratum(number);
    for (relation_id relation : plan_->strata[number].relations) {
      place& where = places_[relation.value];
      if (where.is_at(other)) at(other).release(relation);  // the copy lacks the added rows
      where.is_at(other) = false;
      where.is_at(here) = at(here).rows(relation) != 0;
    }
  }

  [[nodiscard]] bool is_extended_by(std::size_t number, relation_id relation) const {
    const std::vector<relation_id>& extended = plan_->strata[number].relations;
    return std::find(extended.begin(), extended.end(), relation) != extended.end();
  }

  /// Returns the time to move a running recursion to the device.
  [[nodiscard]] double moving_seconds(std::size_t number) const {
    std::size_t relations = 0;
    std::uint64_t bytes = 0;
    for (const relation_id relation : reads_[number]) {
      if (places_[relation.value].is_at(side::device) && !is_extended_by(number, relation)) continue;
      const std::uint64_t rows = at(side::host).rows(relation);
      relations += rows == 0 ? 0 : 1;
      bytes += rows * plan_->relations[relation.value].kinds.size() * sizeof(word);
    }
    return placement_costs::crossing_seconds(relations, bytes);
  }

  /// Runs the rest of a recursion that was stopped on the host.
  /// @return whether the device runs the rest; if not, the host continues
  bool go_on_with(std::size_t number, const stopped_recursion& stopped, const stratum_stops& stops) {
    const bool is_moved = has_device() && move_to_device(number);
    extending_ = &at(is_moved ? side::device : side::host);
    extending_->resume_stratum(number, stopped, stops);
    return is_moved;
  }

  /// @return whether all relations fit on the device
  bool move_to_device(std::size_t number) {
    stratum_executor& host = at(side::host);
    stratum_executor& device = at(side::device);
    const std::vector<relation_id>& extended = plan_->strata[number].relations;
    try {
      for (relation_id relation : reads_[number]) {
        if (!is_extended_by(number, relation)) bring(relation, side::device);
      }
      for (relation_id relation : extended) {
        if (places_[relation.value].is_at(side::device)) device.release(relation);
        places_[relation.value].is_at(side::device) = false;
        if (host.rows(relation) == 0) continue;
        device.adopt_running(relation, host.columns(relation), host.rows(relation), host.old_rows(relation));
      }
    } catch (const memory_fault&) {
      for (relation_id relation : extended) device.release(relation);
      return false;
    }
    for (relation_id relation : extended) {
      host.release(relation);
      places_[relation.value].is_at(side::host) = false;
    }
    return true;
  }

  /// Runs a stratum without rules: the relations stay where they were loaded.
  void run_inputs(std::size_t number) {
    const std::vector<relation_id>& relations = plan_->strata[number].relations;
    for (const auto& one : sides_) {
      if (one != nullptr) one->run_stratum(number);
    }
    const side first = relations.empty() ? side::host : side_of(relations.front());
    add_figures(number, {first, {}});
    std::vector<relation_statistics>& figures = figures_.strata.back().relations;
    for (std::size_t r = 0; r < relations.size(); ++r) {
      figures[r] = at(side_of(relations[r])).figures().strata.back().relations[r];
    }
  }

  void add_figures(std::size_t number, const choice& chosen) {
    stratum_statistics& figures = figures_.strata.emplace_back(at(chosen.where).figures().strata.back());
    figures.backend = name_of(chosen.where);
    figures.reason = chosen.reason;
    // The time of a recursion depends on the number of iterations more than on tuples: costs do not learn from
    // recursions.
    if (plan_->strata[number].recursive || !has_rules(plan_->strata[number])) return;
    stratum_work done = work_of(number);
    done.candidates = 0;
    for (const version_statistics& version : figures.versions)
      done.candidates += static_cast<double>(version.candidates);
    costs_.learn(chosen.where, done, figures.seconds);
  }

  /// Copies a relation to a side unless the side already has the relation.
  void bring(relation_id relation, side to) {
    place& where = places_[relation.value];
    if (where.is_at(to) || !where.has_rows()) return;
    stratum_executor& from = at(other_of(to));
    at(to).adopt(relation, from.columns(relation), from.rows(relation), false);
    from.forget_columns(relation);
    where.is_at(to) = true;
  }

  const plan::program* plan_;
  placement_rules rules_;
  std::unique_ptr<device_source> device_;                   // until the executor is created
  std::array<std::unique_ptr<stratum_executor>, 2> sides_;  // by side
  std::vector<place> places_;                               // by relation_id
  std::vector<bool> device_strata_;                         // by stratum
  std::vector<std::vector<relation_id>> reads_;             // by stratum: and the relations that the stratum extends
  placement_costs costs_;                                   // if rules_ have costs
  std::size_t next_stratum_ = 0;
  statistics figures_;
  statistics seen_;                        ///< including the running stratum
  stratum_executor* running_ = nullptr;    ///< executor of a stratum whose figures are not in figures_ yet
  stratum_executor* extending_ = nullptr;  ///< executor that holds the relations of the running stratum
  std::optional<stop_watch> stop_watch_;   // last member: the thread uses device_
};

}  // namespace

std::unique_ptr<executor> make_hybrid_executor(const plan::program& program, std::unique_ptr<device_source> device,
                                               std::unique_ptr<stratum_executor> host, placement_rules rules) {
  return std::make_unique<hybrid_executor>(program, std::move(device), std::move(host), std::move(rules));
}

std::unique_ptr<executor> make_hybrid_executor(const plan::program& program, std::unique_ptr<stratum_executor> device,
                                               std::unique_ptr<stratum_executor> host, placement_rules rules) {
  return make_hybrid_executor(program, std::make_unique<present_device>(std::move(device)), std::move(host),
                              std::move(rules));
}

}  // namespace gpulog::exec
