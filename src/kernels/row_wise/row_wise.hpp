#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kernels/calibration.hpp"
#include "kernels/join/appended_columns.hpp"
#include "kernels/join/tile_runner.hpp"
#include "kernels/row_wise/row_rule_reader.hpp"
#include "kernels/row_wise/row_values.hpp"
#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/row_wise/row_words.hpp"
#include "storage/factorized/word_rows.hpp"
#include "storage/indexes/join_sample.hpp"
#include "storage/relation/relation.hpp"
#include "storage/sets/value_histogram.hpp"
#include "support/long_vector.hpp"

/// Evaluates rules row by row (kernels/row_wise/row_wise_task.hpp) on a CPU: a worker has a bitmap of the values and a
/// list of its nonzero words.
namespace gpulog::kernels {

/// Evaluates all rules of a task.
template <class Backend>
class row_evaluator {
 public:
  row_evaluator(Backend& backend, backend::memory_resource& resource, const row_wise_task& task,
                const relation_list<storage::relation>& relations, row_store<Backend>& store,
                const std::atomic<bool>* stop)
      : backend_(&backend),
        resource_(&resource),
        task_(&task),
        stop_(stop),
        rows_(resource),
        workers_(backend.workers()) {
    read_rules(relations, store);
    if (store.numbers() == nullptr && is_sparse() && store.number_values(relations, task.rules, values_))
      read_rules(relations, store);
    numbers_ = store.numbers();
    if (has_places()) collect_rows();
  }

  /// Returns whether all values fit into a bitmap.
  [[nodiscard]] bool has_places() const { return values_ <= most_row_values; }

  /// Returns the derived tuples, by rule.
  [[nodiscard]] std::vector<std::uint64_t> counts() const {
    std::vector<std::uint64_t> counts;
    for (const row_rule_reader& rule : rules_) counts.push_back(rule.tuples());
    return counts;
  }
  [[nodiscard]] std::uint64_t candidates() const {
    std::uint64_t sum = 0;
    for (const row_rule_reader& rule : rules_) sum += rule.tuples();
    return sum;
  }

  struct sample {
    double candidates_per_result;
    double words_per_result;
  };
  /// Estimates by evaluating a sample of rows.
  [[nodiscard]] sample take_sample() {
    const std::uint64_t step = std::max<std::uint64_t>(calibration::least_sampled_results_step,
                                                       rows_.size() / calibration::sampled_results_rows);
    std::uint64_t found = 0;
    std::uint64_t results = 0;
    std::uint64_t words = 0;
    for (std::uint64_t i = 0; i < rows_.size(); i += step) {
      for (const row_rule_reader& rule : rules_)
        rule.for_each_range(rows_[i], [&](const auto& range) { found += rule.words().values_in(range); });
      with_values(0, rows_[i], [&](const row_values& values) {
        results += values.count();
        words += values.words();
      });
    }
    const double of = static_cast<double>(std::max<std::uint64_t>(results, 1));
    return {static_cast<double>(found) / of, static_cast<double>(words) / of};
  }
  /// Returns whether lists of words take much less memory than columns.
  [[nodiscard]] bool has_short_lists(const sample& of) const {
    const double results = static_cast<double>(candidates()) / std::max(of.candidates_per_result, 1.0);
    constexpr std::uint64_t bytes_of_number = storage::word_lists::bytes_of_row + sizeof(std::uint64_t) + sizeof(word);
    const double bytes = static_cast<double>(numbers() * bytes_of_number) +
                         results * of.words_per_result * double{storage::word_lists::bytes_of_word};
    return bytes * calibration::columns_of_word_lists <= results * 2 * sizeof(word);
  }
  /// Returns whether rows and values are numbers not much larger than the number of rows read.
  [[nodiscard]] bool has_dense_numbers(std::uint64_t rows) const {
    return numbers_ == nullptr &&
           numbers() <= std::min(calibration::most_middle_values_per_row * rows + 4096, most_row_values);
  }

  void run(appended_columns& results) {
    for_each_row([&](unsigned, word row, const row_values& values) {
      const std::uint64_t count = values.count();
      results.append(count, [&](const auto& column) {
        std::fill_n(column(0), count, row);
        values.write(column(1));
      });
      return count;
    });
  }

  /// Evaluates the rules and returns the results as words.
  [[nodiscard]] storage::row_words run_into_words() {
    storage::row_words made;
    made.numbers = static_cast<std::uint32_t>(numbers());
    made.lists.emplace(*resource_, made.numbers);
    made.first_row = storage::array<std::uint64_t>(*resource_, made.numbers + 1ULL);
    std::vector<storage::word_lists::reserve> reserves(backend_->workers());
    for_each_row([&](unsigned worker, word row, row_values& values) {
      return made.first_row[row] = values.write_words(row, *made.lists, reserves[worker]);
    });
    std::uint64_t in_front = 0;
    for (std::uint64_t n = 0; n <= made.numbers; ++n) in_front += std::exchange(made.first_row[n], in_front);
    return made;
  }

  /// Inserts the results into a relation, which may already contain some of them.
  void run_into(storage::relation& target) {
    if (backend_->workers() == 1) {
      insert_all<storage::exclusive_access>(target);
    } else {
      insert_all<storage::concurrent_access>(target);
    }
  }

 private:
  void read_rules(const relation_list<storage::relation>& relations, row_store<Backend>& store) {
    rules_.clear();
    values_ = 0;
    for (const row_rule& rule : task_->rules) {
      rules_.emplace_back(*backend_, *resource_, rule, relations, store);
      values_ = std::max(values_, rules_.back().words().largest_value() + 1);
    }
  }
  /// Returns whether most words of the bitmap would have a single value, and there are many candidates.
  [[nodiscard]] bool is_sparse() const {
    std::uint64_t words = 0;
    std::uint64_t values = 0;
    for (const row_rule_reader& rule : rules_) {
      words += rule.words().words();
      values += rule.words().values();
    }
    return values_ > calibration::least_numbered_values && values < 2 * words && candidates() > values;
  }

  /// Returns an exclusive bound of rows and values.
  [[nodiscard]] std::uint64_t numbers() const {
    std::uint64_t most = values_;
    for (const row_rule_reader& rule : rules_) {
      if (rule.rows().size() != 0) most = std::max(most, std::uint64_t{rule.rows()[rule.rows().size() - 1]} + 1);
    }
    return most;
  }

  /// Collects every row with values once. The largest rows come first, so that workers end together.
  void collect_rows() {
    std::uint64_t together = 0;
    for (const row_rule_reader& rule : rules_) together += rule.rows().size();
    storage::array<std::uint64_t> all(*resource_, together, backend::fresh_memory::anything);
    storage::array<std::uint64_t> scratch(*resource_, together, backend::fresh_memory::anything);
    std::uint64_t next = 0;
    for (const row_rule_reader& rule : rules_) {
      for (const word row : rule.rows()) all[next++] = row;
    }
    const std::uint64_t* sorted = backend_->radix_sort(all.data(), scratch.data(), together, 0, 32);
    rows_.resize(together);
    word* const rows = rows_.data();
    const std::uint64_t distinct = backend_->select_if(
        together, [sorted](std::uint64_t i) { return i == 0 || sorted[i] != sorted[i - 1]; }, rows);
    backend_->for_each(distinct, [=](std::uint64_t i) { rows[i] = static_cast<word>(sorted[rows[i]]); });
    rows_.resize(distinct);
    if (backend_->workers() == 1) return;
    const std::uint64_t large = candidates() / (backend_->workers() * calibration::large_row_share) + 1;
    std::stable_partition(rows, rows + distinct, [&](word row) {
      std::uint64_t found = 0;
      for (const row_rule_reader& rule : rules_)
        rule.for_each_range(row, [&](const auto& range) { found += rule.words().values_in(range); });
      return found >= large;
    });
  }

  /// Calls use(worker, row, values), which returns the number of new results, for all rows, in any order, on all
  /// workers.
  /// @throws interrupted, over_budget
  template <class Use>
  void for_each_row(const Use& use) {
    const std::uint64_t piece = std::clamp<std::uint64_t>(rows_.size() / (backend_->workers() * 64ULL), 1, 64);
    backend_->for_each_tile(rows_.size(), piece, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw interrupted{};
        const std::uint64_t candidates = task_->budget == nullptr ? 0 : spend_on_words(rows_[i]);
        std::uint64_t fresh = 0;
        with_values(worker, rows_[i], [&](row_values& values) { fresh = use(worker, rows_[i], values); });
        if (task_->budget != nullptr) task_->budget->spend(task_->budget->cost_of_results(candidates, fresh));
      }
    });
  }
  /// Takes the words of a row from the budget.
  /// @return the derived tuples, including duplicates
  /// @throws over_budget
  std::uint64_t spend_on_words(word row) const {
    std::uint64_t words = 0;
    std::uint64_t candidates = 0;
    for (const row_rule_reader& rule : rules_) {
      rule.for_each_range(row, [&](const storage::row_range& range) {
        words += range.count;
        candidates += rule.words().values_in(range);
      });
    }
    task_->budget->spend(calibration::row_word_bindings * static_cast<double>(words));
    return candidates;
  }

  template <class Access>
  void insert_all(storage::relation& target) {
    worker_gate gate(backend_->workers());
    const std::uint64_t room = storage::relation::room_for(gate.workers());
    std::vector<std::unique_ptr<storage::insert_scratch>> scratch(gate.workers());
    for_each_row([&](unsigned worker, word row, const row_values& values) {
      auto& own = scratch[worker];
      if (!own) own = std::make_unique<storage::insert_scratch>();
      std::uint64_t fresh = 0;
      values.in_pieces(storage::tile_rows, [&](const storage::bitmap_words& words, std::uint32_t n, std::uint32_t) {
        const worker_gate::visit inside(&gate);
        gate.require_room<storage::concurrent_access>(target, room,
                                                      [&](std::uint64_t more, const backend::piece_runner& helpers) {
                                                        target.make_room(*backend_, more, helpers);
                                                      });
        if (numbers_ == nullptr) {
          fresh += target.insert_words<Access>(row, words, n, *own, worker);
        } else {
          fresh += insert_numbered<Access>(target, row, words, n, *own, worker);
        }
      });
      return fresh;
    });
  }

  /// Offers the values of n words of numbers, at most tile_rows.
  template <class Access>
  std::uint32_t insert_numbered(storage::relation& target, word row, const storage::bitmap_words& words,
                                std::uint32_t n, storage::insert_scratch& scratch, unsigned worker) {
    const word* const values = numbers_->columns().front();
    word rows[storage::tile_rows];
    word found[storage::tile_rows];
    std::uint32_t count = 0;
    words.for_each(n, [&](word number) { found[count++] = values[number]; });
    std::fill_n(rows, count, row);
    const word* const columns[] = {rows, found};
    return target.insert<Access>(columns, count, scratch, worker);
  }

  template <class Use>
  void with_values(unsigned worker, word row, const Use& use) {
    auto& values = workers_[worker];
    if (!values) values.emplace(*resource_, values_, numbers_);
    for (const row_rule_reader& rule : rules_) values->add(rule, row);
    if (!task_->filters.empty()) values->filter(task_->filters, row, task_->wide);
    use(*values);
    values->clear();
  }

  Backend* backend_;
  backend::memory_resource* resource_;
  const row_wise_task* task_;
  const std::atomic<bool>* stop_;
  std::uint64_t values_ = 0;  // exclusive bound of all values, or of their numbers
  const tuple_numbering* numbers_ = nullptr;
  std::vector<row_rule_reader> rules_;
  storage::array<word> rows_;
  std::vector<std::optional<row_values>> workers_;
};

/// Estimates the number of candidates of a rule from a sample of the rows that it reads.
inline double expected_candidates(const row_rule& rule, const relation_list<storage::relation>& relations,
                                  std::uint64_t sampled_rows) {
  const pair_view from = pair_view::of(relations, *rule.left);
  if (!rule.right) return static_cast<double>(from.rows());
  const pair_view to = pair_view::of(relations, *rule.right);
  const storage::join_sample of_to(to.rows(), sampled_rows);
  const storage::join_sample of_from(from.rows(), sampled_rows);
  storage::value_histogram keys(of_to.size);
  for (std::uint64_t i = 0; i < of_to.size; ++i) keys.add(to.keys[of_to.row(i)]);
  std::uint64_t pairs = 0;
  for (std::uint64_t i = 0; i < of_from.size; ++i) pairs += keys.count(from.values[of_from.row(i)]);
  return static_cast<double>(pairs) * of_to.weight() * of_from.weight();
}

/// Takes the preparation of inputs from the budget.
/// @throws over_budget
template <class Backend>
void spend_on_inputs(const row_store<Backend>& store, const row_wise_task& task,
                     const relation_list<storage::relation>& relations) {
  if (task.budget == nullptr) return;
  std::uint64_t missing = 0;
  for (const row_rule& rule : task.rules) missing += store.missing_rows(relations, rule);
  task.budget->spend(calibration::prepared_row_bindings * static_cast<double>(missing));
}

/// Evaluates the rules and stores the results in the target, which is empty: as columns, or as words if all readers
/// accept words and words take less memory.
/// @return the derived tuples, by rule; nothing, without any effect, if the values do not fit into a bitmap or if
///   row-wise evaluation does not pay
/// @throws memory_exceeded, interrupted, over_budget
template <class Backend>
std::optional<std::vector<std::uint64_t>> run_row_wise(Backend& backend, backend::memory_resource& resource,
                                                       row_store<Backend>& store, const row_wise_task& task,
                                                       const relation_list<storage::relation>& relations,
                                                       const row_wise_cut_offs& cut, const std::atomic<bool>* stop) {
  std::uint64_t rows = 0;
  std::set<relation_id> read;
  const auto look_at = [&](const column_pairs& pairs) {
    if (read.insert(pairs.relation).second) rows += relations[pairs.relation.value]->rows();
    return relations[pairs.relation.value]->rows() <= UINT32_MAX;  // positions have 32 bits
  };
  for (const row_rule& rule : task.rules) {
    if (!look_at(*rule.left) || (rule.right && !look_at(*rule.right))) return std::nullopt;
  }
  if (!task.forced) {
    if (rows < cut.least_rows) return std::nullopt;
    double expected = 0;
    for (const row_rule& rule : task.rules)
      expected += expected_candidates(rule, relations, calibration::sampled_stratum_rows);
    if (!cut.pays(expected, rows)) return std::nullopt;
  }
  spend_on_inputs(store, task, relations);
  row_evaluator<Backend> evaluator(backend, resource, task, relations, store, stop);
  if (!evaluator.has_places()) return std::nullopt;
  if (!task.forced && !cut.pays(static_cast<double>(evaluator.candidates()), rows)) return std::nullopt;
  bool keeps_words = task.may_keep_words && evaluator.has_dense_numbers(rows);
  if (!task.forced && (keeps_words || task.needs_set)) {
    const auto sample = evaluator.take_sample();
    keeps_words = keeps_words && evaluator.has_short_lists(sample);
    // Words need no set for membership tests.
    if (task.needs_set && !keeps_words && sample.candidates_per_result < cut.least_candidates_per_result)
      return std::nullopt;
  }
  if (keeps_words) {
    relations[task.relation().value]->replace(
        std::make_unique<storage::word_rows>(resource, evaluator.run_into_words()));
    return evaluator.counts();
  }
  appended_columns results(resource, rows + 1024);
  evaluator.run(results);
  const std::uint64_t result_rows = results.rows();
  relations[task.relation().value]->replace(results.take(), result_rows);
  return evaluator.counts();
}

/// Returns the rules of a task that pay in addition to the relations' current rows, or all possible rules if forced.
template <class Backend>
std::vector<std::size_t> rules_that_pay(const row_store<Backend>& store, const row_wise_task& task,
                                        const relation_list<storage::relation>& relations,
                                        const row_wise_cut_offs& cut) {
  std::vector<std::size_t> chosen;
  for (std::size_t r = 0; r < task.rules.size(); ++r) {
    const row_rule& rule = task.rules[r];
    const std::uint64_t from = pair_view::of(relations, *rule.left).rows();
    const std::uint64_t to = pair_view::of(relations, *rule.right).rows();
    if (from > UINT32_MAX || to > UINT32_MAX) continue;  // positions have 32 bits
    if (!task.forced) {
      const std::uint64_t missing = store.missing_rows(relations, rule);
      if (from + to < cut.least_rows || !cut.pays(task.last_candidates[r] * calibration::most_growth, missing))
        continue;
      if (!cut.pays(expected_candidates(rule, relations, calibration::sampled_version_rows), missing)) continue;
    }
    chosen.push_back(r);
  }
  return chosen;
}

/// Evaluates rules of a task row by row and adds the results to the target.
/// @return by rule: the number of candidates, or nothing if the rule was not evaluated
/// @throws memory_exceeded (inserted tuples stay), interrupted, over_budget
template <class Backend>
std::vector<std::optional<std::uint64_t>> add_rows(Backend& backend, backend::memory_resource& resource,
                                                   row_store<Backend>& store, const row_wise_task& task,
                                                   const relation_list<storage::relation>& relations,
                                                   const row_wise_cut_offs& cut, const std::atomic<bool>* stop) {
  std::vector<std::optional<std::uint64_t>> done(task.rules.size());
  const std::vector<std::size_t> chosen = rules_that_pay(store, task, relations, cut);
  if (chosen.empty()) return done;
  row_wise_task paying = task;
  paying.rules.clear();
  for (const std::size_t r : chosen) paying.rules.push_back(task.rules[r]);
  spend_on_inputs(store, paying, relations);
  row_evaluator<Backend> evaluator(backend, resource, paying, relations, store, stop);
  if (!evaluator.has_places()) return done;
  evaluator.run_into(*relations[task.relation().value]);
  const std::vector<std::uint64_t> counts = evaluator.counts();
  for (std::size_t i = 0; i < chosen.size(); ++i) done[chosen[i]] = counts[i];
  return done;
}

}  // namespace gpulog::kernels
