#include "kernels/products/product_rows.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "kernels/calibration.hpp"

namespace gpulog::kernels {

namespace {

using backend::array;
using backend::fresh_memory;

/// First tuples are stamped before the first step.
constexpr std::uint32_t first_stamp = 1;

struct numbers_range {
  const word* first;
  const word* last;
  [[nodiscard]] const word* begin() const { return first; }
  [[nodiscard]] const word* end() const { return last; }
  [[nodiscard]] bool empty() const { return first == last; }
};
numbers_range list_of(const storage::adjacency& lists, std::uint32_t number) {
  return {lists.all.data() + lists.first[number], lists.all.data() + lists.first[number + 1ULL]};
}

}  // namespace

product_rows::scratch::scratch(backend::memory_resource& resource, const product_rows& rows)
    : united_(resource, rows.words()),
      reached_(resource, rows.words()),
      in_union_(rows.groups_),
      in_reached_(rows.groups_) {}

product_rows::product_rows(const backend::piece_runner& workers, backend::memory_resource& resource,
                           const row_equations& task, const relation_list<storage::relation>& relations,
                           std::uint64_t bound)
    : resource_(&resource),
      without_equal_(!task.filters.empty()),
      target_(task.relation()),
      graph_({&workers, &resource}, resource, task, relations, bound),
      numbers_(graph_.size()),
      groups_((numbers_ + group_size - 1) / group_size) {
  for (const row_rule& one : task.rules) {
    rule& made = rules_.emplace_back();
    made.is_recursive = one.is_recursive;
    made.is_first = one.is_first;
    if (one.left) made.left = &graph_.lists_of(*one.left);
    if (one.left && one.is_recursive) made.readers = &graph_.inverse_of(*one.left);
    if (one.right) made.right = &graph_.lists_of(*one.right);
    if (one.right) made.sources = &graph_.inverse_of(*one.right);
  }
}

std::uint64_t product_rows::table_bytes() const {
  std::uint64_t tables = 1;
  for (const rule& one : rules_) tables += one.right != nullptr && one.is_recursive ? 1 : 0;
  return tables * numbers_ * storage::group_table::blocks_of(groups_) * sizeof(std::uint32_t);
}

template <class Visit>
void product_rows::for_each_read(std::uint32_t number, const Visit& visit) const {
  for (const rule& one : rules_) {
    if (!one.is_recursive || one.left == nullptr) continue;
    for (const word read : list_of(*one.left, number)) visit(read);
  }
}
template <class Visit>
void product_rows::for_each_reader(std::uint32_t number, const Visit& visit) const {
  for (const rule& one : rules_) {
    if (!one.is_recursive) continue;
    if (one.left == nullptr) {
      visit(number);
    } else {
      for (const word reader : list_of(*one.readers, number)) visit(reader);
    }
  }
}

/// Orders rows by depth-first search: each row after the rows that it reads, except on cycles. The level of a row is
/// above the levels of its neighbours earlier in the order.
void product_rows::find_order() {
  struct open_row {
    std::uint32_t number;
    std::size_t rule;        // whose list is being visited
    std::uint32_t position;  // in the list
  };
  long_vector<std::uint32_t> behind;
  behind.reserve(numbers_);
  long_vector<std::uint8_t> is_met(numbers_);
  std::vector<open_row> open;
  const auto enter = [&](std::uint32_t number) {
    if (is_met[number] != 0) return;
    is_met[number] = 1;
    open.push_back({number, 0, 0});
  };
  for (std::uint32_t start = 0; start < numbers_; ++start) {
    enter(start);
    while (!open.empty()) {
      open_row& last = open.back();
      if (last.rule == rules_.size()) {
        behind.push_back(last.number);
        open.pop_back();
        continue;
      }
      const rule& one = rules_[last.rule];
      const bool reads = one.is_recursive && one.left != nullptr;
      const auto list = reads ? list_of(*one.left, last.number) : numbers_range{nullptr, nullptr};
      if (list.first + last.position == list.last) {
        ++last.rule;
        last.position = 0;
      } else {
        enter(list.first[last.position++]);
      }
    }
  }
  long_vector<std::uint32_t> level(numbers_);  // level + 1; 0: later in the order
  std::uint32_t most = 0;
  is_once_.assign(numbers_, 0);
  are_all_once_ = std::all_of(rules_.begin(), rules_.end(),
                              [](const rule& one) { return !one.is_recursive || one.left != nullptr; });
  const bool may_be_once = are_all_once_;
  for (const std::uint32_t number : behind) {
    std::uint32_t largest = 0;
    const auto look_at = [&](std::uint32_t neighbour) {
      if (neighbour != number) largest = std::max(largest, level[neighbour]);
    };
    bool is_once = may_be_once;
    for_each_read(number, [&](std::uint32_t read) {
      look_at(read);
      is_once = is_once && is_once_[read] != 0;
    });
    is_once_[number] = is_once ? 1 : 0;
    are_all_once_ = are_all_once_ && is_once;
    for_each_reader(number, look_at);
    level[number] = largest + 1;
    most = std::max(most, largest + 1);
  }
  levels_.assign(most + 1ULL, 0);
  for (const std::uint32_t of : level) ++levels_[of];
  for (std::size_t i = 1; i < levels_.size(); ++i) levels_[i] += levels_[i - 1];
  std::vector<std::uint64_t> next(levels_.begin(), levels_.end());
  order_.resize(numbers_);
  for (const std::uint32_t number : behind) order_[next[level[number] - 1ULL]++] = number;
}

void product_rows::make_tables(unsigned workers) {
  find_order();
  rows_ = storage::group_table(*resource_, numbers_, groups_);
  std::uint64_t followed = 0;
  for (rule& one : rules_) {
    if (are_all_once_ || one.right == nullptr || !one.is_recursive) continue;
    one.followed = storage::group_table(*resource_, numbers_, groups_);
    followed += one.followed.blocks();
  }
  blocks_ = row_groups(*resource_, rows_.blocks(), workers);
  followed_blocks_ = row_groups(*resource_, followed, workers);
  bits_ = row_groups(*resource_, rows_.blocks() * storage::group_table::block_size, workers);
  followed_ = row_groups(*resource_, followed * storage::group_table::block_size, workers);
  visited_ = array<std::uint32_t>(*resource_, numbers_);
  sizes_ = array<std::uint64_t>(*resource_, numbers_ + 1);
  is_due_.assign(numbers_, 1);
  const auto first = graph_.numbers_of(target_, 0);
  const auto second = graph_.numbers_of(target_, 1);
  const word* const x = first.values;
  const word* const y = second.values;
  row_groups::reserve block_reserve;
  row_groups::reserve reserve;
  for (std::uint64_t i = 0; i < first.rows; ++i) {
    std::uint64_t& group = rows_.entry(blocks_, block_reserve, x[i], y[i] / group_size);
    if (group == 0) group = entry_of(bits_.take(reserve), first_stamp);
    std::uint64_t& bits = bits_.at(place_of(group))[y[i] / word_size % group_words];
    const std::uint64_t bit = 1ULL << y[i] % word_size;
    if ((bits & bit) == 0) ++sizes_[x[i]];
    bits |= bit;
  }
}

bool product_rows::is_due(std::uint32_t number) const {
  return std::atomic_ref<std::uint8_t>(is_due_[number]).load(std::memory_order_relaxed) != 0;
}

/// @return whether the union has any bit
bool product_rows::unite(const rule& one, std::uint32_t number, std::uint32_t visited, scratch& own) const {
  bool found = false;
  if (visited == 0 && one.is_first) {
    for (const word value : list_of(*one.left, number)) {
      own.united_[value / word_size] |= 1ULL << value % word_size;
      own.in_union_.add(value / group_size);
      found = true;
    }
  }
  const auto add = [&](std::uint32_t read) {
    own.done_.steps += rows_.blocks_of_row();
    rows_.for_each_block(blocks_, read, [&](std::uint64_t first_group, const std::uint64_t* entries) {
      own.done_.steps += calibration::steps_of_block;
      for (std::uint64_t i = 0; i < storage::group_table::block_size; ++i) {
        if (place_of(entries[i]) == 0 || stamp_of(entries[i]) < visited) continue;
        own.done_.steps += calibration::steps_of_united_group;
        const std::uint64_t* const from = bits_.at(place_of(entries[i]));
        std::uint64_t* const to = own.united_.data() + (first_group + i) * group_words;
        for (std::uint64_t w = 0; w < group_words; ++w) to[w] |= from[w];
        own.in_union_.add(first_group + i);
        found = true;
      }
      return true;
    });
  };
  if (!one.is_recursive) return found;
  if (one.left == nullptr) {
    add(number);
  } else {
    for (const word read : list_of(*one.left, number)) add(read);
  }
  return found;
}

std::uint32_t product_rows::take_group(row_groups& from, row_groups::reserve& reserve, scratch& own) const {
  own.done_.steps += calibration::steps_of_new_group;
  return from.take(reserve);
}

/// Removes bits that were already followed from the union.
/// @return the number of remaining bits
std::uint64_t product_rows::leave_new(rule& one, std::uint32_t number, scratch& own) {
  own.done_.steps += 4 * own.in_union_.words();  // here, in follow() and in add_reached()
  std::uint64_t bits = 0;
  own.in_union_.for_each([&](std::uint64_t group) {
    std::uint64_t* const united = own.united_.data() + group * group_words;
    std::uint64_t here = 0;
    if (one.followed.blocks() != 0 && is_once_[number] == 0) {
      std::uint64_t& entry = one.followed.entry(followed_blocks_, own.followed_block_reserve_, number, group);
      if (entry == 0) entry = take_group(followed_, own.followed_reserve_, own);
      std::uint64_t* const followed = followed_.at(place_of(entry));
      for (std::uint64_t w = 0; w < group_words; ++w) {
        united[w] &= ~followed[w];
        followed[w] |= united[w];
      }
    }
    for (std::uint64_t w = 0; w < group_words; ++w) {
      if (united[w] != 0) here += static_cast<std::uint64_t>(std::popcount(united[w]));
    }
    if (here == 0) own.in_union_.remove(group);
    bits += here;
  });
  return bits;
}

void product_rows::push(const rule& one, scratch& own) const {
  std::uint64_t* const reached = own.reached_.data();
  std::uint8_t* const in_reached = own.in_reached_.bytes();
  std::uint64_t candidates = 0;
  own.in_union_.for_each([&](std::uint64_t group) {
    for (std::uint64_t w = group * group_words; w < (group + 1) * group_words; ++w) {
      for (std::uint64_t left = own.united_[w]; left != 0; left &= left - 1) {
        const auto number = static_cast<std::uint32_t>(w * word_size + static_cast<unsigned>(std::countr_zero(left)));
        const numbers_range list = list_of(*one.right, number);
        for (const word next : list) {
          reached[next / word_size] |= 1ULL << next % word_size;
          in_reached[next / group_size] = 1;
        }
        candidates += static_cast<std::uint64_t>(list.last - list.first);
      }
    }
  });
  own.done_.candidates += candidates;
}

void product_rows::pull(const rule& one, std::uint32_t number, scratch& own) const {
  const std::uint64_t* const united = own.united_.data();
  std::uint64_t candidates = 0;
  for (std::uint64_t w = 0; w * word_size < numbers_; ++w) {
    const std::uint64_t* const known = bits_of(number, w / group_words);
    std::uint64_t open = ~(own.reached_[w] | (known == nullptr ? 0 : known[w % group_words]));
    if (numbers_ - w * word_size < word_size) open &= (1ULL << numbers_ % word_size) - 1;
    if (without_equal_ && number / word_size == w) open &= ~(1ULL << number % word_size);
    std::uint64_t found = 0;
    for (; open != 0; open &= open - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(open));
      for (const word source : list_of(*one.sources, static_cast<std::uint32_t>(w * word_size + bit))) {
        ++candidates;
        if ((united[source / word_size] >> source % word_size & 1) == 0) continue;
        found |= 1ULL << bit;
        break;
      }
    }
    if (found == 0) continue;
    own.reached_[w] |= found;
    own.in_reached_.add(w / group_words);
  }
  own.done_.candidates += candidates;
}

/// Marks the successors of the union's bits, and clears the union.
void product_rows::follow(const rule& one, std::uint32_t number, std::uint64_t bits, scratch& own) const {
  if (one.right == nullptr) {
    own.in_union_.for_each([&](std::uint64_t group) {
      for (std::uint64_t w = group * group_words; w < (group + 1) * group_words; ++w) own.reached_[w] |= own.united_[w];
      own.in_reached_.add(group);
    });
    own.done_.candidates += bits;
  } else {
    // Compares the cost of a push (the successors of each bit) with a pull (for each missing number, the sources up to
    // the first source in the union).
    const auto pairs = static_cast<double>(one.right->all.size());
    const auto all = static_cast<double>(numbers_);
    const double pushed = static_cast<double>(bits) * pairs / all;
    const double asked = std::min(pairs / all, all / static_cast<double>(bits));
    const double pulled = (all - static_cast<double>(sizes_[number])) * asked + all / word_size;
    if (pulled < pushed) {
      pull(one, number, own);
    } else {
      push(one, own);
    }
  }
  own.in_union_.for_each([&](std::uint64_t group) {
    std::fill_n(own.united_.data() + group * group_words, group_words, 0);
    own.in_union_.remove(group);
  });
}

/// @return the number of new bits of the row
std::uint64_t product_rows::add_reached(std::uint32_t number, std::uint32_t step, scratch& own) {
  if (without_equal_) own.reached_[number / word_size] &= ~(1ULL << number % word_size);
  std::uint64_t fresh = 0;
  own.in_reached_.for_each([&](std::uint64_t group) {
    own.in_reached_.remove(group);
    std::uint64_t& entry = rows_.entry(blocks_, own.block_reserve_, number, group);
    if (entry == 0) entry = entry_of(take_group(bits_, own.reserve_, own), 0);
    std::uint64_t* const row = bits_.at(place_of(entry));
    std::uint64_t* const reached = own.reached_.data() + group * group_words;
    std::uint64_t here = 0;
    for (std::uint64_t w = 0; w < group_words; ++w) {
      if (reached[w] == 0) continue;
      const std::uint64_t bits = reached[w] & ~row[w];
      reached[w] = 0;
      row[w] |= bits;
      here += static_cast<std::uint64_t>(std::popcount(bits));
    }
    if (here != 0) entry = entry_of(place_of(entry), step);
    fresh += here;
  });
  sizes_[number] += fresh;
  own.done_.bits += fresh;
  return fresh;
}

void product_rows::make_row(std::uint32_t number, std::uint32_t step, scratch& own) {
  const std::uint32_t visited = std::exchange(visited_[number], step);
  std::atomic_ref<std::uint8_t>(is_due_[number]).store(0, std::memory_order_relaxed);
  bool has_reached = false;
  for (rule& one : rules_) {
    if (!unite(one, number, visited, own)) continue;
    const std::uint64_t bits = leave_new(one, number, own);
    if (bits == 0) continue;
    has_reached = true;
    follow(one, number, bits, own);
  }
  if (!has_reached || add_reached(number, step, own) == 0) return;
  for_each_reader(number, [&](std::uint32_t reader) {
    std::atomic_ref<std::uint8_t>(is_due_[reader]).store(1, std::memory_order_relaxed);
  });
}

storage::row_words product_rows::take_words() {
  for (rule& one : rules_) one.followed.release();
  followed_blocks_ = row_groups();
  followed_ = row_groups();
  storage::row_words made;
  made.numbers = static_cast<std::uint32_t>(numbers_);
  made.table = std::move(rows_);
  made.blocks = std::move(blocks_);
  made.first_row = std::move(sizes_);
  std::uint64_t rows = 0;
  for (std::uint64_t number = 0; number <= numbers_; ++number) rows += std::exchange(made.first_row[number], rows);
  made.bits = std::move(bits_);
  if (auto& numbering = graph_.numbering()) {
    made.values.emplace_back(*resource_, numbers_, fresh_memory::anything);
    std::copy_n(numbering->columns().front(), numbers_, made.values.front().data());
    numbering.reset();
  }
  return made;
}

}  // namespace gpulog::kernels
