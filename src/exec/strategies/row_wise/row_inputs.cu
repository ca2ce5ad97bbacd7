#include "exec/strategies/row_wise/row_inputs.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "backend/gpu/wave.hpp"
#include "kernels/calibration.hpp"
#include "kernels/row_wise/row_rule_view.cuh"
#include "storage/relation/join_size.hpp"
#include "storage/relation/largest_values.hpp"

namespace gpulog::exec {

namespace {

namespace gpu_kernels = kernels::gpu;
using backend::array;
using backend::fresh_memory;
using gpu_kernels::row_word_bits;

/// Packs a pair into a number: the key above, the value in the lowest bits.
struct pack_pair {
  const word* keys;
  const word* values;
  std::uint64_t* items;
  unsigned value_bits;
  __device__ void operator()(std::uint64_t i) const {
    items[i] = static_cast<std::uint64_t>(keys[i]) << value_bits | values[i];
  }
};
/// Whether an item is the first with its upper bits.
struct begins_group {
  const std::uint64_t* items;
  unsigned below;
  __device__ bool operator()(std::uint32_t i) const { return i == 0 || items[i] >> below != items[i - 1] >> below; }
};
/// The same for the first item of a word.
struct word_begins_group {
  const std::uint64_t* items;
  const std::uint32_t* first;
  unsigned below;
  __device__ bool operator()(std::uint32_t i) const {
    return i == 0 || items[first[i]] >> below != items[first[i - 1]] >> below;
  }
};
struct make_word {
  const std::uint64_t* items;
  const std::uint32_t* first;  ///< first item, by word
  std::uint64_t* words;
  unsigned value_bits;
  __device__ void operator()(std::uint64_t w) const {
    std::uint32_t mask = 0;
    for (std::uint32_t i = first[w]; i < first[w + 1]; ++i) mask |= 1U << (items[i] & 31);
    const std::uint64_t value = items[first[w]] & ((1ULL << value_bits) - 1);
    words[w] = value >> row_word_bits << 32 | mask;
  }
};
struct take_key {
  const std::uint64_t* items;
  const std::uint32_t* first;       ///< by group: first word, or first item
  const std::uint32_t* first_item;  ///< by word: first item; null: `first` holds items
  word* keys;
  unsigned value_bits;
  __device__ void operator()(std::uint64_t g) const {
    const std::uint32_t item = first_item == nullptr ? first[g] : first_item[first[g]];
    keys[g] = static_cast<word>(items[item] >> value_bits);
  }
};
struct put {
  std::uint32_t* to;
  std::uint32_t value;
  __device__ void operator()(std::uint64_t i) const { to[i] = value; }
};

template <class Less>
__device__ std::uint64_t first_not_below(std::uint64_t n, const Less& below) {
  std::uint64_t low = 0;
  std::uint64_t high = n;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (below(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
/// Returns the group of a key, or `groups` if none exists.
__device__ inline std::uint32_t group_of(const word* keys, std::uint32_t groups, word key) {
  const std::uint64_t at = first_not_below(groups, [&](std::uint64_t i) { return keys[i] < key; });
  return at < groups && keys[at] == key ? static_cast<std::uint32_t>(at) : groups;
}

/// Maps w to its group.
struct find_group {
  const std::uint64_t* items;
  unsigned value_bits;
  const word* keys;
  std::uint32_t groups;
  std::uint32_t* found;
  __device__ void operator()(std::uint64_t i) const {
    found[i] = group_of(keys, groups, static_cast<word>(items[i] & ((1ULL << value_bits) - 1)));
  }
};
/// Returns the number of words of an item, or with `first_value` the number of their values; 0 after the last item.
struct item_size {
  const std::uint32_t* group;  ///< null: the item's number
  const std::uint32_t* first_word;
  const std::uint32_t* first_value;  ///< by word; null: count words
  std::uint64_t items;
  __device__ std::uint64_t operator()(std::uint64_t i) const {
    if (i >= items) return 0;
    const std::uint64_t g = group == nullptr ? i : group[i];
    std::uint32_t begin = first_word[g];
    std::uint32_t end = first_word[g + 1];
    if (first_value != nullptr) {
      begin = first_value[begin];
      end = first_value[end];
    }
    return end - begin;
  }
};
struct place_row_items {
  const word* rows;
  const std::uint64_t* items;  ///< pairs (x,w)
  std::uint64_t count;
  unsigned value_bits;
  std::uint32_t* begin;
  std::uint32_t* end;
  __device__ void operator()(std::uint64_t r) const {
    const auto first = [&](std::uint64_t key) {
      return static_cast<std::uint32_t>(
          first_not_below(count, [&](std::uint64_t i) { return items[i] >> value_bits < key; }));
    };
    begin[r] = first(rows[r]);
    end[r] = first(std::uint64_t{rows[r]} + 1);
  }
};
struct place_row_group {
  const word* rows;
  const word* keys;
  std::uint32_t groups;
  std::uint32_t* begin;
  std::uint32_t* end;
  __device__ void operator()(std::uint64_t r) const {
    begin[r] = group_of(keys, groups, rows[r]);
    end[r] = begin[r] == groups ? groups : begin[r] + 1;
  }
};
struct sum_work {
  const gpu_kernels::row_rule_view* rules;
  std::uint32_t rule_count;
  std::uint64_t* work;
  __device__ void operator()(std::uint64_t r) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < rule_count; ++i) sum += rules[i].words_of_row(static_cast<std::uint32_t>(r));
    work[r] = sum;
  }
};

unsigned bits_of(word largest) { return std::max(1U, static_cast<unsigned>(std::bit_width(largest))); }

/// Returns the numbers below n that satisfy the predicate, ascending.
template <class Predicate>
array<std::uint32_t> select(const backend::gpu::device_context& context, backend::memory_resource& resource,
                            std::uint64_t n, Predicate predicate) {
  array<std::uint32_t> all(resource, n, fresh_memory::anything);
  array<std::uint64_t> count(resource, 1);
  backend::gpu::with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::select_if(scratch, bytes, all.data(), count.data(), n, predicate, context.stream());
  });
  const std::uint64_t selected = context.read_counter(count.data());
  // With two extra places for end markers.
  array<std::uint32_t> result(resource, selected + 2, fresh_memory::anything);
  backend::gpu::copy_async(result.data(), all.data(), selected * sizeof(std::uint32_t),
                           backend::gpu::direction::device_to_device, context.stream());
  backend::gpu::for_each(context.stream(), 2, put{result.data() + selected, static_cast<std::uint32_t>(n)});
  result.resize(selected);
  return result;
}

}  // namespace

struct row_inputs::pairs {
  explicit pairs(backend::memory_resource& resource) : items(resource) {}
  array<std::uint64_t> items;
  unsigned value_bits = 0;
};

struct row_inputs::words {
  explicit words(backend::memory_resource& resource)
      : first_value(resource), values(resource), first_word(resource), keys(resource) {}
  array<std::uint32_t> first_value;  ///< by word, with one extra entry
  array<std::uint64_t> values;
  array<std::uint32_t> first_word;  ///< by group, with two extra entries: an empty group
  array<word> keys;                 ///< by group
  [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(keys.size()); }
};

struct row_inputs::rule {
  explicit rule(backend::memory_resource& resource) : group(resource), sums(resource), begin(resource), end(resource) {}
  array<std::uint32_t> group;  ///< group of an item's words; empty: the item's number
  array<std::uint64_t> sums;
  array<std::uint32_t> begin;
  array<std::uint32_t> end;
  const words* used = nullptr;
};

row_inputs::row_inputs(const backend::gpu::device_context& context, backend::memory_resource& resource,
                       const kernels::row_wise_task& task, const relation_list& relations)
    : context_(&context), resource_(&resource), task_(&task), relations_(&relations), rows_(resource), work_(resource) {
  std::set<std::pair<relation_id, row_part>> read;
  const auto look_at = [&](const column_pairs& pairs) {
    const std::uint64_t rows = keys_of(pairs).rows;
    if (read.insert({pairs.relation, pairs.rows}).second) rows_read_ += rows;
    // The place after the last item needs a number, too.
    if (rows >= UINT32_MAX - 1) can_be_prepared_ = false;
    largest_[{pairs.relation, pairs.rows, pairs.key}] = largest_[{pairs.relation, pairs.rows, pairs.value}] = 0;
  };
  for (const row_rule& rule : task.rules) {
    look_at(*rule.left);
    if (rule.right) look_at(*rule.right);
  }
  if (can_be_prepared_) find_largest();
}
row_inputs::~row_inputs() = default;

const gpu_kernels::row_rule_view* row_inputs::rules() const { return views_->data(); }

storage::gpu::column_values row_inputs::values_of(const column_part& part) const {
  const auto& [number, rows, column] = part;
  const auto& from = *(*relations_)[number.value];
  const kernels::part_rows read = kernels::rows_of(from, rows);
  if (read.begin == read.end) return {};
  return {from.column(column) + read.begin, read.end - read.begin};
}

void row_inputs::sort(pairs& made, const column_pairs& from) {
  const std::uint64_t n = keys_of(from).rows;
  made.value_bits = std::max(row_word_bits, bits_of(largest_value(from)));
  const unsigned bits = made.value_bits + bits_of(largest_key(from));
  array<std::uint64_t> items(*resource_, n, fresh_memory::anything);
  array<std::uint64_t> other(*resource_, n, fresh_memory::anything);
  backend::gpu::for_each(context_->stream(), n,
                         pack_pair{keys_of(from).values, values_of(from).values, items.data(), made.value_bits});
  backend::gpu::double_buffer<std::uint64_t> buffers{items.data(), other.data()};
  backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::sort_keys(scratch, bytes, buffers, n, 0, static_cast<unsigned>(bits), context_->stream());
  });
  if (buffers.current != items.data()) items.swap(other);
  made.items.swap(items);
}

namespace {
/// Returns the cached result for columns, or an empty pointer to fill in.
template <class Columns, class Made>
std::unique_ptr<Made>& of_columns(std::vector<std::pair<Columns, std::unique_ptr<Made>>>& all, const Columns& wanted) {
  for (auto& [columns, made] : all) {
    if (columns == wanted) return made;
  }
  return all.emplace_back(wanted, nullptr).second;
}
}  // namespace

row_inputs::pairs& row_inputs::sorted(const column_pairs& wanted) {
  auto& made = of_columns(sorted_, place_of(wanted));
  if (!made) {
    made = std::make_unique<pairs>(*resource_);
    sort(*made, wanted);
  }
  return *made;
}

void row_inputs::make_words(words& made, const pairs& from) {
  const std::uint64_t n = from.items.size();
  made.first_value = select(*context_, *resource_, n, begins_group{from.items.data(), row_word_bits});
  const std::uint64_t count = made.first_value.size();
  made.values = array<std::uint64_t>(*resource_, count, fresh_memory::anything);
  backend::gpu::for_each(context_->stream(), count,
                         make_word{from.items.data(), made.first_value.data(), made.values.data(), from.value_bits});
  made.first_word = select(*context_, *resource_, count,
                           word_begins_group{from.items.data(), made.first_value.data(), from.value_bits});
  made.keys = array<word>(*resource_, made.first_word.size(), fresh_memory::anything);
  backend::gpu::for_each(
      context_->stream(), made.keys.size(),
      take_key{from.items.data(), made.first_word.data(), made.first_value.data(), made.keys.data(), from.value_bits});
}

row_inputs::words& row_inputs::words_of(const column_pairs& wanted) {
  auto& made = of_columns(words_, place_of(wanted));
  if (!made) {
    made = std::make_unique<words>(*resource_);
    make_words(*made, sorted(wanted));
  }
  return *made;
}

void row_inputs::find_items(rule& made, const row_rule& from) {
  made.used = &words_of(kernels::target_pairs(from));
  std::uint64_t items = made.used->groups();
  if (from.right) {
    const pairs& own = sorted(*from.left);
    items = own.items.size();
    made.group = array<std::uint32_t>(*resource_, items, fresh_memory::anything);
    backend::gpu::for_each(
        context_->stream(), items,
        find_group{own.items.data(), own.value_bits, made.used->keys.data(), made.used->groups(), made.group.data()});
  }
  item_size size{made.group.data(), made.used->first_word.data(), nullptr, items};
  made.sums = array<std::uint64_t>(*resource_, items + 1, fresh_memory::anything);
  backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::exclusive_sum_of(scratch, bytes, size, made.sums.data(), items + 1, context_->stream());
  });
  size.first_value = made.used->first_value.data();
  array<std::uint64_t> candidates(*resource_, 1);
  backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::sum_of(scratch, bytes, size, candidates.data(), items + 1, context_->stream());
  });
  candidates_.push_back(context_->read_counter(candidates.data()));
  total_work_ += context_->read_counter(made.sums.data() + items);
}

/// Collects every row that may get values once, ascending.
void row_inputs::collect_rows() {
  std::vector<array<word>> parts;
  std::uint64_t together = 0;
  for (const row_rule& rule : task_->rules) {
    if (rule.right) {
      const pairs& own = sorted(*rule.left);
      const array<std::uint32_t> first =
          select(*context_, *resource_, own.items.size(), begins_group{own.items.data(), own.value_bits});
      array<word>& keys = parts.emplace_back(*resource_, first.size(), fresh_memory::anything);
      backend::gpu::for_each(context_->stream(), keys.size(),
                             take_key{own.items.data(), first.data(), nullptr, keys.data(), own.value_bits});
    } else {
      const words& own = words_of(*rule.left);
      array<word>& keys = parts.emplace_back(*resource_, own.keys.size(), fresh_memory::anything);
      backend::gpu::copy_async(keys.data(), own.keys.data(), keys.size() * sizeof(word),
                               backend::gpu::direction::device_to_device, context_->stream());
    }
    together += parts.back().size();
  }
  if (parts.size() == 1) {
    rows_.swap(parts.front());
    return;
  }
  array<word> all(*resource_, together, fresh_memory::anything);
  array<word> other(*resource_, together, fresh_memory::anything);
  std::uint64_t next = 0;
  for (const array<word>& part : parts) {
    backend::gpu::copy_async(all.data() + next, part.data(), part.size() * sizeof(word),
                             backend::gpu::direction::device_to_device, context_->stream());
    next += part.size();
  }
  backend::gpu::double_buffer<word> buffers{all.data(), other.data()};
  backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::sort_keys(scratch, bytes, buffers, together, 0, word_bits, context_->stream());
  });
  array<std::uint64_t> count(*resource_, 1);
  backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::unique(scratch, bytes, buffers.current, buffers.other, count.data(), together, context_->stream());
  });
  const std::uint64_t distinct = context_->read_counter(count.data());
  rows_ = array<word>(*resource_, distinct, fresh_memory::anything);
  backend::gpu::copy_async(rows_.data(), buffers.other, distinct * sizeof(word),
                           backend::gpu::direction::device_to_device, context_->stream());
}

void row_inputs::place_rows(rule& made, const row_rule& from) {
  made.begin = array<std::uint32_t>(*resource_, rows_.size(), fresh_memory::anything);
  made.end = array<std::uint32_t>(*resource_, rows_.size(), fresh_memory::anything);
  if (from.right) {
    const pairs& own = sorted(*from.left);
    backend::gpu::for_each(context_->stream(), rows_.size(),
                           place_row_items{rows_.data(), own.items.data(), own.items.size(), own.value_bits,
                                           made.begin.data(), made.end.data()});
  } else {
    backend::gpu::for_each(
        context_->stream(), rows_.size(),
        place_row_group{rows_.data(), made.used->keys.data(), made.used->groups(), made.begin.data(), made.end.data()});
  }
}

/// Queries all columns together, so that the host waits only once.
void row_inputs::find_largest() {
  std::vector<storage::gpu::column_values> looked_at;
  for (const auto& [place, largest] : largest_) looked_at.push_back(values_of(place));
  const std::vector<word> found = storage::gpu::largest_values(*context_, *resource_, looked_at);
  std::size_t next = 0;
  for (auto& [place, largest] : largest_) largest = found[next++];
  for (const row_rule& rule : task_->rules) {
    values_ = std::max<std::uint64_t>(values_, largest_value(kernels::target_pairs(rule)) + 1ULL);
  }
}

std::optional<double> row_inputs::expected_candidates() const {
  double sum = 0;
  for (const row_rule& rule : task_->rules) {
    const auto own = expected_candidates(rule);
    if (!own) return std::nullopt;
    sum += *own;
  }
  return sum;
}

std::optional<double> row_inputs::expected_candidates(const row_rule& rule) const {
  const storage::gpu::column_values from = values_of(*rule.left);
  if (!rule.right) return static_cast<double>(from.rows);
  const storage::gpu::column_values to = keys_of(*rule.right);
  const std::uint64_t keys = largest_key(*rule.right) + 1ULL;
  if (keys / kernels::calibration::most_middle_values_per_row > to.rows + 4096) return std::nullopt;
  return storage::gpu::join_size(*context_, *resource_, from, to, keys);
}

void row_inputs::prepare() {
  collect_rows();
  std::vector<gpu_kernels::row_rule_view> views;
  for (const row_rule& from : task_->rules) {
    rule& made = *rules_.emplace_back(std::make_unique<rule>(*resource_));
    find_items(made, from);
    place_rows(made, from);
    views.push_back({made.begin.data(), made.end.data(), made.group.data(), made.sums.data(),
                     made.used->first_word.data(), made.used->values.data()});
  }
  sorted_.clear();
  views_ = std::make_unique<array<gpu_kernels::row_rule_view>>(*resource_, views.size(), fresh_memory::anything);
  backend::gpu::copy_async(views_->data(), views.data(), views.size() * sizeof(gpu_kernels::row_rule_view),
                           backend::gpu::direction::host_to_device, context_->stream());
  work_ = array<std::uint64_t>(*resource_, rows_.size(), fresh_memory::anything);
  backend::gpu::for_each(context_->stream(), rows_.size(),
                         sum_work{views_->data(), static_cast<std::uint32_t>(views.size()), work_.data()});
  context_->synchronize();  // `views` goes out of scope
}

}  // namespace gpulog::exec
