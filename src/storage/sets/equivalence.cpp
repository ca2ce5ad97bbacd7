#include "storage/sets/equivalence.hpp"

#include <bit>

namespace gpulog::storage {

namespace {

constexpr std::size_t block_sizes = 33;

[[nodiscard]] unsigned log2_of_block(std::uint64_t size) { return static_cast<unsigned>(std::bit_width(size - 1)); }

}  // namespace

equivalence::equivalence(backend::memory_resource& resource)
    : resource_(&resource),
      numbers_(resource),
      values_(resource),
      class_of_(resource),
      positions_(resource),
      parents_(resource),
      classes_(resource),
      members_(resource),
      member_numbers_(resource),
      absorbed_(resource),
      changes_(resource),
      parts_(resource),
      all_blocks_(resource),
      old_blocks_(resource),
      delta_blocks_(resource),
      changed_blocks_(resource) {
  for (std::size_t size = 0; size < block_sizes; ++size) free_blocks_.emplace_back(resource);
}

std::uint64_t equivalence::bytes() const {
  std::uint64_t sum = numbers_.bytes() + values_.bytes() + class_of_.bytes() + positions_.bytes() + parents_.bytes() +
                      classes_.bytes() + members_.bytes() + member_numbers_.bytes() + absorbed_.bytes() +
                      changes_.bytes() + parts_.bytes() + all_blocks_.blocks.bytes() + old_blocks_.blocks.bytes() +
                      delta_blocks_.blocks.bytes() + changed_blocks_.blocks.bytes();
  for (const auto& list : free_blocks_) sum += list.bytes();
  return sum;
}

// ---- inserting ----

void equivalence::make_room(std::uint64_t pairs) {
  const std::uint64_t needed = count_.load(std::memory_order_relaxed) + 2 * pairs;
  const std::uint64_t capacity = std::max(needed, classes_.capacity() + classes_.capacity() / 2);
  if (capacity >= element_numbers::most) {
    throw backend::memory_exceeded(capacity * sizeof(class_entry), resource_->used(), resource_->limit());
  }
  numbers_.grow(capacity);
  values_.reserve(capacity);
  class_of_.reserve(capacity);
  positions_.reserve(capacity);
  parents_.reserve(capacity);
  classes_.reserve(capacity);  // grows last because has_room() depends on it
}

bool equivalence::unite(word left, word right) {
  bool is_new = false;
  const std::uint32_t a = number_of(left, is_new);
  const std::uint32_t b = left == right ? a : number_of(right, is_new);
  const std::uint32_t first = root(class_of_[a]);
  const std::uint32_t second = root(class_of_[b]);
  if (first == second) return is_new;
  const std::uint32_t absorbed = std::max(first, second);
  absorbed_.push_back(absorbed);
  __atomic_store_n(parents_.data() + absorbed, std::min(first, second), __ATOMIC_RELAXED);
  return true;
}

std::uint32_t equivalence::number_of(word value, bool& is_new) {
  const std::uint32_t known = numbers_.find(value);
  if (known != element_numbers::none) return known;
  is_new = true;
  const auto number = static_cast<std::uint32_t>(count_.load(std::memory_order_relaxed));
  values_[number] = value;
  class_of_[number] = number;
  classes_[number] = {};
  __atomic_store_n(parents_.data() + number, number, __ATOMIC_RELAXED);
  numbers_.insert(value, number);
  count_.store(number + 1ULL, std::memory_order_relaxed);
  return number;
}

// ---- publishing ----

void equivalence::make_old() {
  for (const change_entry& change : changes_) classes_[change.number].change = 0;
  changes_.resize(0);
  parts_.resize(0);
  changed_elements_ = 0;
  old_pairs_ = pairs_;
  old_elements_ = elements_;
  all_is_new_ = false;
  forget_blocks();
}

void equivalence::make_new() {
  make_old();
  all_is_new_ = true;
}

void equivalence::publish() {
  make_old();
  const auto before = static_cast<std::uint32_t>(elements_);
  const auto count = static_cast<std::uint32_t>(count_.load(std::memory_order_relaxed));

  // Each group of merged classes forms a ring that starts at its root: the parents are free for this purpose once all
  // roots are known.
  backend::array<std::uint32_t> roots(*resource_, absorbed_.size());
  for (std::uint64_t i = 0; i < absorbed_.size(); ++i) roots[i] = root(absorbed_[i]);
  for (std::uint64_t i = 0; i < absorbed_.size(); ++i) {
    parents_[absorbed_[i]] = std::exchange(parents_[roots[i]], absorbed_[i]);
  }
  for (const std::uint32_t root : roots) {
    if (parents_[root] != root) merge_group(root, before);
  }
  absorbed_.resize(0);

  for (std::uint32_t number = before; number < count; ++number) {
    class_entry& entry = classes_[number];
    if (class_of_[number] != number || entry.size != 0) continue;
    entry.begin = allocate_block(1);
    append_element(entry, number, number);
    note_change(number, static_cast<std::uint32_t>(parts_.size()), 0);
    ++pairs_;
  }
  elements_ = count;
  if (members_.size() > 2 * used_places_ + 1024) close_gaps();
}

void equivalence::close_gaps() {
  backend::array<word> members(*resource_);
  backend::array<std::uint32_t> numbers(*resource_);
  members.resize(used_places_);
  numbers.resize(used_places_);
  std::uint64_t end = 0;
  for (std::uint64_t number = 0; number < elements_; ++number) {
    class_entry& moved = classes_[number];
    if (moved.size == 0) continue;
    std::copy_n(members_.data() + moved.begin, moved.size, members.data() + end);
    std::copy_n(member_numbers_.data() + moved.begin, moved.size, numbers.data() + end);
    moved.begin = end;
    end += std::bit_ceil(moved.size);
  }
  members_.swap(members);
  member_numbers_.swap(numbers);
  for (auto& list : free_blocks_) list.release();
}

void equivalence::merge_group(std::uint32_t root, std::uint32_t published_elements) {
  const auto for_each_class = [&](bool is_published, const auto& action) {
    std::uint32_t number = root;
    do {
      if ((number < published_elements) == is_published) action(number);
      number = parents_[number];
    } while (number != root);
  };
  std::uint32_t base = root;
  std::uint64_t total = 0;
  for_each_class(true, [&](std::uint32_t number) {
    const std::uint64_t size = classes_[number].size;
    total += size;
    pairs_ -= size * size;
    if (base >= published_elements || size > classes_[base].size) base = number;
  });
  for_each_class(false, [&](std::uint32_t) { ++total; });
  pairs_ += total * total;

  class_entry merged = classes_[base];
  const auto first_part = static_cast<std::uint32_t>(parts_.size());
  if (merged.size == 0) {
    merged.begin = allocate_block(total);
  } else {
    parts_.push_back(0);
    if (total > std::bit_ceil(merged.size)) {
      const std::uint64_t begin = allocate_block(total);
      std::copy_n(members_.data() + merged.begin, merged.size, members_.data() + begin);
      std::copy_n(member_numbers_.data() + merged.begin, merged.size, member_numbers_.data() + begin);
      free_block(merged);
      merged.begin = begin;
    }
  }
  for_each_class(true, [&](std::uint32_t number) {
    if (number == base) return;
    const class_entry absorbed = std::exchange(classes_[number], {});
    parts_.push_back(merged.size);
    append_members(merged, base, absorbed.begin, absorbed.size);
    free_block(absorbed);
  });
  const std::uint32_t fresh_begin = merged.size;
  for_each_class(false, [&](std::uint32_t number) { append_element(merged, base, number); });

  classes_[base] = merged;
  parents_[root] = root;
  parents_[base] = base;
  note_change(base, first_part, fresh_begin);
}

void equivalence::append_members(class_entry& target, std::uint32_t base, std::uint64_t from, std::uint32_t count) {
  for (std::uint64_t place = from; place < from + count; ++place) {
    const std::uint32_t number = member_numbers_[place];
    members_[target.begin + target.size] = members_[place];
    member_numbers_[target.begin + target.size] = number;
    class_of_[number] = base;
    positions_[number] = target.size++;
  }
}

void equivalence::append_element(class_entry& target, std::uint32_t base, std::uint32_t number) {
  members_[target.begin + target.size] = values_[number];
  member_numbers_[target.begin + target.size] = number;
  class_of_[number] = base;
  positions_[number] = target.size++;
}

void equivalence::note_change(std::uint32_t number, std::uint32_t first_part, std::uint32_t fresh_begin) {
  const auto parts = static_cast<std::uint32_t>(parts_.size()) - first_part;
  changes_.push_back({number, first_part, parts, fresh_begin});
  classes_[number].change = static_cast<std::uint32_t>(changes_.size());
  changed_elements_ += classes_[number].size;
}

std::uint64_t equivalence::allocate_block(std::uint64_t size) {
  const unsigned log2 = log2_of_block(size);
  used_places_ += 1ULL << log2;
  auto& free = free_blocks_[log2];
  if (free.size() != 0) {
    const std::uint64_t begin = free[free.size() - 1];
    free.resize(free.size() - 1);
    return begin;
  }
  const std::uint64_t begin = members_.size();
  const std::uint64_t end = begin + (1ULL << log2);
  if (end > members_.capacity()) members_.set_capacity(std::max(end, members_.capacity() * 2));
  if (end > member_numbers_.capacity()) member_numbers_.set_capacity(std::max(end, member_numbers_.capacity() * 2));
  members_.resize(end);
  member_numbers_.resize(end);
  return begin;
}

void equivalence::free_block(const class_entry& freed) {
  const unsigned log2 = log2_of_block(freed.size);
  free_blocks_[log2].push_back(freed.begin);
  used_places_ -= 1ULL << log2;
}

// ---- reading ----

equivalence::member_range equivalence::old_range(const class_entry& found, std::uint32_t position) const {
  if (all_is_new_) return {};
  if (found.change == 0) return {0, found.size};
  const change_entry& change = changes_[found.change - 1];
  if (position >= change.fresh_begin) return {};
  const std::uint32_t* const first = parts_.data() + change.first_part;
  const std::uint32_t* const last = first + change.parts;
  const std::uint32_t* const next = std::upper_bound(first, last, position);
  return {next[-1], next == last ? change.fresh_begin : *next};
}

place_ranges equivalence::partners(word value, bool with_old, bool with_delta) const {
  const std::uint32_t number = published(value);
  if (number == element_numbers::none) return {};
  const class_entry& found = classes_[class_of_[number]];
  if (with_old && with_delta) return {place_range{found.begin, found.size}, place_range{}};
  const member_range old = old_range(found, positions_[number]);
  if (with_old) return {place_range{found.begin + old.begin, old.end - old.begin}, place_range{}};
  return {place_range{found.begin, old.begin}, place_range{found.begin + old.end, found.size - old.end}};
}

bool equivalence::is_element(word value, bool with_old, bool with_delta) const {
  const std::uint32_t number = published(value);
  if (number == element_numbers::none) return false;
  return number < old_elements() ? with_old : with_delta;
}

bool equivalence::is_pair(word left, word right, bool with_old, bool with_delta) const {
  const std::uint32_t a = published(left);
  if (a == element_numbers::none) return false;
  const std::uint32_t b = left == right ? a : published(right);
  if (b == element_numbers::none || class_of_[a] != class_of_[b]) return false;
  if (with_old && with_delta) return true;
  const member_range old = old_range(classes_[class_of_[a]], positions_[a]);
  const bool is_old = old.begin <= positions_[b] && positions_[b] < old.end;
  return is_old ? with_old : with_delta;
}

void equivalence::forget_blocks() {
  for (block_list* list : {&all_blocks_, &old_blocks_, &delta_blocks_, &changed_blocks_}) {
    list->is_made.store(false, std::memory_order_relaxed);
    list->blocks.release();
  }
}

template <class Make>
const backend::array<pair_block>& equivalence::blocks(block_list& wanted, const Make& make) const {
  if (!wanted.is_made.load(std::memory_order_acquire)) {
    const std::lock_guard alone(making_blocks_);
    if (!wanted.is_made.load(std::memory_order_relaxed)) {
      make(wanted.blocks);
      wanted.is_made.store(true, std::memory_order_release);
    }
  }
  return wanted.blocks;
}

void equivalence::make_blocks(bool with_old, bool with_delta, backend::array<pair_block>& made) const {
  std::uint64_t pairs = 0;
  const auto add = [&](std::uint64_t left, std::uint64_t left_count, std::uint64_t right, std::uint64_t right_count) {
    if (left_count == 0 || right_count == 0) return;
    made.push_back({pairs, left, right, right_count});
    pairs += left_count * right_count;
  };
  const auto for_each_part = [&](const class_entry& owner, const change_entry& change, const auto& action) {
    for (std::uint32_t part = 0; part < change.parts; ++part) {
      const std::uint32_t begin = parts_[change.first_part + part];
      action(begin, old_range(owner, begin).end);
    }
  };
  made.resize(0);
  if (with_old) {
    for (std::uint64_t number = 0; number < elements_ && !(all_is_new_ && !with_delta); ++number) {
      const class_entry& found = classes_[number];
      if (with_delta || found.change == 0) {
        add(found.begin, found.size, found.begin, found.size);
      } else {
        for_each_part(found, changes_[found.change - 1], [&](std::uint32_t begin, std::uint32_t end) {
          add(found.begin + begin, end - begin, found.begin + begin, end - begin);
        });
      }
    }
  } else {
    for (const change_entry& change : changes_) {
      const class_entry& found = classes_[change.number];
      for_each_part(found, change, [&](std::uint32_t begin, std::uint32_t end) {
        add(found.begin + begin, end - begin, found.begin, begin);
        add(found.begin + begin, end - begin, found.begin + end, found.size - end);
      });
      add(found.begin + change.fresh_begin, found.size - change.fresh_begin, found.begin, found.size);
    }
  }
  made.push_back({pairs, 0, 0, 0});
}

void equivalence::make_changed_blocks(backend::array<pair_block>& made) const {
  made.resize(0);
  std::uint64_t elements = 0;
  const auto add = [&](const class_entry& found) {
    if (found.size == 0) return;
    made.push_back({elements, found.begin, found.begin, 1});
    elements += found.size;
  };
  if (all_is_new_) {
    for (std::uint64_t number = 0; number < elements_; ++number) add(classes_[number]);
  } else {
    for (const change_entry& change : changes_) add(classes_[change.number]);
  }
  made.push_back({elements, 0, 0, 0});
}

void equivalence::read_pairs(bool with_old, bool with_delta, std::uint64_t first, std::uint64_t n, word* left,
                             word* right) const {
  if (n == 0) return;
  const bool reads_all = with_delta && (with_old || all_is_new_);
  const auto& list = blocks(reads_all    ? all_blocks_
                            : with_delta ? delta_blocks_
                                         : old_blocks_,
                            [&](auto& made) { make_blocks(with_old || all_is_new_, with_delta, made); });
  read_blocks(list, first, n, left, right);
}

void equivalence::read_changed_elements(std::uint64_t first, std::uint64_t n, word* elements) const {
  if (n == 0) return;
  read_blocks(blocks(changed_blocks_, [&](auto& made) { make_changed_blocks(made); }), first, n, elements, nullptr);
}

void equivalence::read_blocks(const backend::array<pair_block>& list, std::uint64_t first, std::uint64_t n, word* left,
                              word* right) const {
  const pair_block* block =
      std::upper_bound(list.begin(), list.end(), first,
                       [](std::uint64_t pair, const pair_block& other) { return pair < other.first_pair; }) -
      1;
  const word* const members = members_.data();
  while (n != 0) {
    const std::uint64_t offset = first - block->first_pair;
    std::uint64_t from_left = block->left + offset / block->right_count;
    std::uint64_t skipped = offset % block->right_count;
    std::uint64_t in_block = std::min(n, block[1].first_pair - first);
    n -= in_block;
    first += in_block;
    while (in_block != 0) {
      const std::uint64_t count = std::min(in_block, block->right_count - skipped);
      if (left != nullptr) left = std::fill_n(left, count, members[from_left]);
      if (right != nullptr) right = std::copy_n(members + block->right + skipped, count, right);
      in_block -= count;
      skipped = 0;
      ++from_left;
    }
    ++block;
  }
}

}  // namespace gpulog::storage
