#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kernels/appended_columns.hpp"
#include "kernels/row_task.hpp"
#include "kernels/steps.hpp"
#include "storage/join_sample.hpp"
#include "storage/relation.hpp"

/// Rules evaluated row by row (kernels/row_task.hpp) on a CPU: a worker has a bitmap of the values and a list of its
/// words that are not empty.
namespace gpulog::kernels {

/// Pairs of two columns, sorted: the key above, the value below.
class sorted_pairs {
 public:
  template <class Backend>
  sorted_pairs(Backend& backend, backend::memory_resource& resource, const word* keys, const word* values,
               std::uint64_t rows)
      : items_(resource, rows, backend::fresh_memory::anything), size_(rows) {
    storage::array<std::uint64_t> scratch(resource, rows, backend::fresh_memory::anything);
    std::uint64_t* const packed = items_.data();
    backend.for_each(rows, [=](std::uint64_t i) { packed[i] = storage::pack(keys[i], values[i]); });
    std::uint64_t used = 0;
    for (std::uint64_t i = 0; i < rows; ++i) used |= packed[i];
    const auto value_bits = static_cast<unsigned>(std::bit_width(static_cast<word>(used)));
    const auto key_bits = static_cast<unsigned>(std::bit_width(used >> 32));
    std::uint64_t* sorted = backend.radix_sort(packed, scratch.data(), rows, 0, value_bits);
    std::uint64_t* const other = sorted == packed ? scratch.data() : packed;
    sorted = backend.radix_sort(sorted, other, rows, 32, 32 + key_bits);
    if (sorted != packed) items_.swap(scratch);
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::uint64_t* data() const { return items_.data(); }
  [[nodiscard]] static word key(std::uint64_t item) { return static_cast<word>(item >> 32); }
  [[nodiscard]] static word value(std::uint64_t item) { return static_cast<word>(item); }

 private:
  storage::array<std::uint64_t> items_;
  std::uint64_t size_;
};

/// Where the keys of a sorted array stand.
class key_places {
 public:
  explicit key_places(backend::memory_resource& resource) : level_(resource, 1, 0.5, true) {}
  template <class Backend, class Key>
  void build(Backend& backend, std::uint64_t n, const Key& key) {
    level_.build(backend, n, [&key](std::uint32_t, std::uint64_t i) { return key(i); });
  }
  [[nodiscard]] storage::row_range find(word key) const {
    if (level_.is_direct()) return level_.find_direct(key);
    const std::uint64_t code = level_.code([key](std::uint32_t) { return key; });
    return level_.find(code, level_.home(code), [key](std::uint32_t) { return key; });
  }

 private:
  storage::key_level level_;
};

/// The values of each key as words of a bitmap.
class word_rows {
 public:
  static constexpr unsigned bits = 6;  ///< of a value, below its word's number

  template <class Backend>
  word_rows(Backend& backend, backend::memory_resource& resource, const sorted_pairs& pairs)
      : first_(resource, pairs.size() + 1, backend::fresh_memory::anything),
        numbers_(resource),
        masks_(resource),
        places_(resource) {
    const std::uint64_t* const items = pairs.data();
    words_ = backend.select_if(
        pairs.size(), [items](std::uint64_t i) { return i == 0 || items[i] >> bits != items[i - 1] >> bits; },
        first_.data());
    first_[words_] = static_cast<std::uint32_t>(pairs.size());
    first_.set_capacity(words_ + 1);
    numbers_.resize(words_);
    masks_.resize(words_);
    const std::uint32_t* const first = first_.data();
    std::uint32_t* const numbers = numbers_.data();
    std::uint64_t* const masks = masks_.data();
    backend.for_each(words_, [=](std::uint64_t w) {
      std::uint64_t mask = 0;
      for (std::uint32_t i = first[w]; i < first[w + 1]; ++i) mask |= 1ULL << (items[i] & ((1U << bits) - 1));
      numbers[w] = sorted_pairs::value(items[first[w]]) >> bits;
      masks[w] = mask;
    });
    places_.build(backend, words_, [=](std::uint64_t w) { return sorted_pairs::key(items[first[w]]); });
  }

  /// The words of a key.
  [[nodiscard]] storage::row_range find(word key) const { return places_.find(key); }
  [[nodiscard]] std::uint64_t values_in(const storage::row_range& words) const {
    return words.count == 0 ? 0 : first_[words.first + std::uint64_t{words.count}] - first_[words.first];
  }
  [[nodiscard]] const std::uint32_t* numbers() const { return numbers_.data(); }
  [[nodiscard]] const std::uint64_t* masks() const { return masks_.data(); }

 private:
  storage::array<std::uint32_t> first_;  // of the sorted values, by word
  storage::array<std::uint32_t> numbers_;
  storage::array<std::uint64_t> masks_;
  key_places places_;
  std::uint64_t words_ = 0;
};

/// A rule: for a row, the ranges of words that make it up.
class row_rule_reader {
 public:
  template <class Backend>
  row_rule_reader(Backend& backend, backend::memory_resource& resource, const row_rule& rule,
                  const relation_list<storage::relation>& relations)
      : places_(resource), middle_(resource), heads_(resource) {
    const auto sorted = [&](const pair_columns& pairs) {
      const storage::relation& from = *relations[pairs.relation];
      return sorted_pairs(backend, resource, from.column(pairs.key), from.column(pairs.value), from.rows());
    };
    const sorted_pairs from = sorted(rule.from);
    const std::uint64_t* const items = from.data();
    heads_.resize(from.size());
    const std::uint64_t count = backend.select_if(
        from.size(),
        [items](std::uint64_t i) { return i == 0 || sorted_pairs::key(items[i]) != sorted_pairs::key(items[i - 1]); },
        heads_.data());
    heads_.set_capacity(count);
    word* const heads = heads_.data();
    backend.for_each(count, [=](std::uint64_t i) { heads[i] = sorted_pairs::key(items[heads[i]]); });
    if (!rule.to) {
      words_.emplace(backend, resource, from);
      tuples_ = from.size();
      return;
    }
    words_.emplace(backend, resource, sorted(*rule.to));
    middle_.resize(from.size());
    storage::row_range* const middle = middle_.data();
    const word_rows& words = *words_;
    tuples_ = backend.reduce(from.size(), [&words, middle, items](std::uint64_t i) {
      middle[i] = words.find(sorted_pairs::value(items[i]));
      return words.values_in(middle[i]);
    });
    places_.build(backend, from.size(), [items](std::uint64_t i) { return sorted_pairs::key(items[i]); });
  }

  /// The rows that it may give values to, ascending.
  [[nodiscard]] const storage::array<word>& rows() const { return heads_; }
  /// Results with their duplicates.
  [[nodiscard]] std::uint64_t tuples() const { return tuples_; }

  /// visit(words) for each w of the row.
  template <class Visit>
  void for_each_range(word row, const Visit& visit) const {
    if (middle_.size() == 0) {
      visit(words_->find(row));
      return;
    }
    const storage::row_range places = places_.find(row);
    const storage::row_range* const middle = middle_.data() + places.first;
    for (std::uint32_t i = 0; i < places.count; ++i) visit(middle[i]);
  }
  [[nodiscard]] const word_rows& words() const { return *words_; }

 private:
  key_places places_;                          // of rows among the pairs (x,w)
  storage::array<storage::row_range> middle_;  // of each, the words of w
  storage::array<word> heads_;
  std::optional<word_rows> words_;
  std::uint64_t tuples_ = 0;
};

/// The values of one row.
class row_values {
 public:
  row_values(backend::memory_resource& resource, std::uint64_t values)
      : bits_(resource, (values >> word_rows::bits) + 1), touched_(resource) {}

  void add(const row_rule_reader& rule, word row) {
    const std::uint32_t* const numbers = rule.words().numbers();
    const std::uint64_t* const masks = rule.words().masks();
    rule.for_each_range(row, [&](const storage::row_range& range) {
      if (filled_ + range.count >= touched_.capacity())
        touched_.set_capacity(std::max<std::uint64_t>(filled_ + range.count + 1, touched_.capacity() * 2));
      std::uint32_t* const touched = touched_.data();
      std::uint64_t* const bits = bits_.data();
      std::uint64_t filled = filled_;
      for (std::uint64_t w = range.first; w < range.first + std::uint64_t{range.count}; ++w) {
        // A store that the next one writes over costs less than a branch.
        std::uint64_t& seen = bits[numbers[w]];
        touched[filled] = numbers[w];
        filled += seen == 0 ? 1 : 0;
        seen |= masks[w];
      }
      filled_ = filled;
    });
  }
  /// Takes out what does not pass.
  void filter(const std::vector<row_filter>& filters, word row) {
    for (std::uint64_t t = 0; t < filled_; ++t) {
      std::uint64_t& bits = bits_[touched_[t]];
      for (std::uint64_t left = bits; left != 0; left &= left - 1) {
        const word value = value_of(touched_[t], left);
        if (!std::all_of(filters.begin(), filters.end(),
                         [&](const row_filter& one) { return passes(one, row, value); }))
          bits &= ~(left & (~left + 1));
      }
    }
  }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (std::uint64_t t = 0; t < filled_; ++t) sum += static_cast<unsigned>(std::popcount(bits_[touched_[t]]));
    return sum;
  }
  void write(word* to) const {
    for (std::uint64_t t = 0; t < filled_; ++t) {
      for (std::uint64_t left = bits_[touched_[t]]; left != 0; left &= left - 1) *to++ = value_of(touched_[t], left);
    }
  }
  void clear() {
    for (std::uint64_t t = 0; t < filled_; ++t) bits_[touched_[t]] = 0;
    filled_ = 0;
  }

 private:
  static word value_of(std::uint32_t number, std::uint64_t left) {
    return number << word_rows::bits | static_cast<word>(std::countr_zero(left));
  }
  static bool passes(const row_filter& one, word row, word value) {
    const auto operand = [&](row_filter::side side, word constant) {
      if (side == row_filter::side::constant) return constant;
      return side == row_filter::side::row ? row : value;
    };
    const word left = operand(one.left, one.left_constant);
    const word right = operand(one.right, one.right_constant);
    std::uint16_t selected = 0;
    return select_tile(one.op, &left, &right, 1, nullptr, &selected) != 0;
  }

  storage::array<std::uint64_t> bits_;
  storage::array<std::uint32_t> touched_;
  std::uint64_t filled_ = 0;
};

/// All rules of a task, and what is done with them.
template <class Backend>
class row_evaluator {
 public:
  row_evaluator(Backend& backend, backend::memory_resource& resource, const row_task& task,
                const relation_list<storage::relation>& relations, const std::atomic<bool>* stop, std::uint64_t values)
      : backend_(&backend),
        resource_(&resource),
        task_(&task),
        stop_(stop),
        values_(values),
        rows_(resource),
        workers_(backend.workers()) {
    for (const row_rule& rule : task.rules) rules_.emplace_back(backend, resource, rule, relations);
    collect_rows();
  }

  [[nodiscard]] row_counts counts() const {
    row_counts counts;
    for (const row_rule_reader& rule : rules_) counts.candidates.push_back(rule.tuples());
    return counts;
  }
  [[nodiscard]] std::uint64_t candidates() const {
    std::uint64_t sum = 0;
    for (const row_rule_reader& rule : rules_) sum += rule.tuples();
    return sum;
  }

  /// How often a result of some rows is found, going by a sample of them.
  [[nodiscard]] double candidates_per_result() {
    constexpr std::uint64_t sample = 256;
    const std::uint64_t step = std::max<std::uint64_t>(1, rows_.size() / sample);
    std::uint64_t found = 0;
    std::uint64_t results = 0;
    for (std::uint64_t i = 0; i < rows_.size(); i += step) {
      for (const row_rule_reader& rule : rules_)
        rule.for_each_range(rows_[i], [&](const auto& range) { found += rule.words().values_in(range); });
      results += with_values(0, rows_[i], [](const row_values& values) { return values.count(); });
    }
    return static_cast<double>(found) / static_cast<double>(std::max<std::uint64_t>(results, 1));
  }

  void run(appended_columns& results) {
    const std::uint64_t piece = std::clamp<std::uint64_t>(rows_.size() / (backend_->workers() * 64ULL), 1, 64);
    backend_->for_each_tile(rows_.size(), piece, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw interrupted{};
        const word row = rows_[i];
        with_values(worker, row, [&](const row_values& values) {
          const std::uint64_t count = values.count();
          results.append(count, [&](const auto& column) {
            std::fill_n(column(0), count, row);
            values.write(column(1));
          });
          return count;
        });
      }
    });
  }

 private:
  /// Every row that some rule gives values to, once. Those with the most to do come first, so that workers end
  /// together.
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
    constexpr std::uint64_t shares = 64;
    const std::uint64_t large = candidates() / (backend_->workers() * shares) + 1;
    std::stable_partition(rows, rows + distinct, [&](word row) {
      std::uint64_t found = 0;
      for (const row_rule_reader& rule : rules_)
        rule.for_each_range(row, [&](const auto& range) { found += rule.words().values_in(range); });
      return found >= large;
    });
  }

  template <class Use>
  std::uint64_t with_values(unsigned worker, word row, const Use& use) {
    auto& values = workers_[worker];
    if (!values) values.emplace(*resource_, values_);
    for (const row_rule_reader& rule : rules_) values->add(rule, row);
    if (!task_->filters.empty()) values->filter(task_->filters, row);
    const std::uint64_t result = use(*values);
    values->clear();
    return result;
  }

  Backend* backend_;
  backend::memory_resource* resource_;
  const row_task* task_;
  const std::atomic<bool>* stop_;
  std::uint64_t values_;
  std::vector<row_rule_reader> rules_;
  storage::array<word> rows_;
  std::vector<std::optional<row_values>> workers_;
};

/// About how many candidates a rule has, told from a sample of what it reads. @return nothing where its values are too
/// large for that
inline std::optional<double> expected_candidates(backend::memory_resource& resource, const row_rule& rule,
                                                 const relation_list<storage::relation>& relations) {
  const storage::relation& from = *relations[rule.from.relation];
  if (!rule.to) return static_cast<double>(from.rows());
  const storage::relation& to = *relations[rule.to->relation];
  constexpr std::uint64_t sampled_rows = 1u << 16;
  const storage::join_sample of_to(to.rows(), sampled_rows);
  const storage::join_sample of_from(from.rows(), sampled_rows);
  const word* const keys = to.column(rule.to->key);
  std::uint64_t values = 0;
  for (std::uint64_t i = 0; i < of_to.size; ++i) values = std::max(values, keys[of_to.row(i)] + std::uint64_t{1});
  if (values / most_middle_values_per_row > to.rows() + 4096) return std::nullopt;
  storage::array<std::uint32_t> counts(resource, values + 1);  // 0 behind the last one
  for (std::uint64_t i = 0; i < of_to.size; ++i) ++counts[keys[of_to.row(i)]];
  const word* const middle = from.column(rule.from.value);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < of_from.size; ++i)
    sum += counts[std::min<std::uint64_t>(middle[of_from.row(i)], values)];
  return static_cast<double>(sum) * of_to.weight() * of_from.weight();
}

/// Evaluates the rules and gives the target, which is empty, their results.
/// @return nothing, and nothing is done, when the values have no place in a bitmap or it would not pay
/// @throws memory_exceeded, interrupted
template <class Backend>
std::optional<row_counts> run_rows(Backend& backend, backend::memory_resource& resource, const row_task& task,
                                   const relation_list<storage::relation>& relations, const row_cut_offs& cut,
                                   const std::atomic<bool>* stop) {
  std::uint64_t rows = 0;
  std::set<relation_number> read;
  const auto look_at = [&](const pair_columns& pairs) {
    if (read.insert(pairs.relation).second) rows += relations[pairs.relation]->rows();
    return relations[pairs.relation]->rows() <= UINT32_MAX;  // positions have 32 bits
  };
  for (const row_rule& rule : task.rules) {
    if (!look_at(rule.from) || (rule.to && !look_at(*rule.to))) return std::nullopt;
  }
  if (!task.forced) {
    if (rows < cut.least_rows) return std::nullopt;
    std::optional<double> expected = 0;
    for (std::size_t r = 0; r < task.rules.size() && expected; ++r) {
      const auto own = expected_candidates(resource, task.rules[r], relations);
      expected = own ? std::optional(*expected + *own) : std::nullopt;
    }
    if (expected && !cut.pays(*expected, rows)) return std::nullopt;
  }
  std::uint64_t largest = 0;
  for (const row_rule& rule : task.rules) {
    const pair_columns& last = rule.to ? *rule.to : rule.from;
    const word* const values = relations[last.relation]->column(last.value);
    for (std::uint64_t i = 0; i < relations[last.relation]->rows(); ++i)
      largest = std::max<std::uint64_t>(largest, values[i]);
  }
  if (largest >= most_row_values) return std::nullopt;

  row_evaluator<Backend> evaluator(backend, resource, task, relations, stop, largest + 1);
  if (!task.forced) {
    if (!cut.pays(static_cast<double>(evaluator.candidates()), rows)) return std::nullopt;
    if (task.needs_set && evaluator.candidates_per_result() < cut.least_candidates_per_result) return std::nullopt;
  }
  appended_columns results(resource, rows + 1024);
  evaluator.run(results);
  const std::uint64_t result_rows = results.rows();
  relations[task.target]->replace(results.take(), result_rows);
  return evaluator.counts();
}

}  // namespace gpulog::kernels
