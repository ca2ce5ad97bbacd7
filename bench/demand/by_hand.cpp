// Hand-written searches for the queries of bench/demand/demand, over the same files:
//
//   by_hand reach FOLDER SOURCE        edge.facts: number of reachable nodes
//   by_hand samegen FOLDER X Y         edge.facts: 1 if X and Y are of the same generation
//   by_hand points_to FOLDER VARIABLE  new, assign, load and store: objects that the variable points to

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

namespace {

using number = std::uint32_t;
using numbers = std::vector<number>;

/// Reads all values of a file, row by row.
numbers read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  numbers values;
  for (const char *at = text.data(), *const end = at + text.size(); at < end;) {
    number value = 0;
    at = std::from_chars(at, end, value).ptr + 1;
    values.push_back(value);
  }
  return values;
}

/// Index of rows by the value of a column.
class by_value {
 public:
  by_value(const numbers& rows, std::size_t arity, std::size_t key) : rows_(rows), arity_(arity) {
    number most = 0;
    for (std::size_t at = key; at < rows.size(); at += arity) most = std::max(most, rows[at]);
    first_.resize(rows.empty() ? 1 : most + 2);
    for (std::size_t at = key; at < rows.size(); at += arity) ++first_[rows[at] + 1];
    for (std::size_t value = 1; value < first_.size(); ++value) first_[value] += first_[value - 1];
    numbers place(first_.begin(), first_.end());
    order_.resize(rows.size() / arity);
    for (number row = 0; row < order_.size(); ++row) order_[place[rows[row * arity + key]]++] = row;
  }

  /// Calls visit(row) for each row with the value; row is an array of columns.
  template <class Visit>
  void for_each(number value, const Visit& visit) const {
    if (value + std::size_t{1} >= first_.size()) return;
    for (number at = first_[value]; at < first_[value + 1]; ++at) visit(rows_.data() + order_[at] * arity_);
  }

 private:
  const numbers& rows_;
  std::size_t arity_;
  numbers first_;  // by value: position of its first row in order_
  numbers order_;
};

numbers reach(const std::string& folder, number source) {
  const numbers edges = read(folder + "/edge.facts");
  const by_value from(edges, 2, 0);
  number nodes = 0;
  for (const number node : edges) nodes = std::max(nodes, node + 1);
  std::vector<bool> seen(nodes);
  numbers found = {source};
  for (std::size_t taken = 0; taken < found.size(); ++taken) {
    from.for_each(found[taken], [&](const number* edge) {
      if (seen[edge[1]]) return;
      seen[edge[1]] = true;
      found.push_back(edge[1]);
    });
  }
  numbers result;
  for (number node = 0; node < nodes; ++node) {
    if (seen[node]) result.push_back(node);
  }
  return result;
}

/// Searches from a pair to the pairs of parents, until both parents are equal.
numbers same_generation(const std::string& folder, number x, number y) {
  const numbers edges = read(folder + "/edge.facts");
  const by_value to(edges, 2, 1);
  std::unordered_set<std::uint64_t> seen;
  std::vector<std::uint64_t> open;
  const auto ask = [&](number left, number right) {
    const std::uint64_t pair = std::uint64_t{left} << 32 | right;
    if (seen.insert(pair).second) open.push_back(pair);
  };
  ask(x, y);
  bool holds = false;
  while (!open.empty() && !holds) {
    const auto left = static_cast<number>(open.back() >> 32);
    const auto right = static_cast<number>(open.back());
    open.pop_back();
    to.for_each(left, [&](const number* above) {
      to.for_each(right, [&](const number* other) {
        if (above[0] == other[0] && left != right) holds = true;
        ask(above[0], other[0]);
      });
    });
  }
  return holds ? numbers{1} : numbers{};
}

/// Finds the variables and fields that the variable's objects depend on, and propagates objects along these
/// dependencies.
numbers points_to(const std::string& folder, number variable) {
  const numbers news = read(folder + "/new.facts");
  const numbers assigns = read(folder + "/assign.facts");
  const numbers loads = read(folder + "/load.facts");
  const numbers stores = read(folder + "/store.facts");
  const by_value new_of(news, 2, 0);
  const by_value assign_to(assigns, 2, 0);
  const by_value load_to(loads, 3, 0);
  const by_value store_field(stores, 3, 1);
  std::unordered_set<number> asked = {variable};
  std::unordered_set<number> fields;
  numbers open = {variable};
  std::vector<const number*> used_assigns, used_loads, used_stores;
  const auto ask = [&](number one) {
    if (asked.insert(one).second) open.push_back(one);
  };
  while (!open.empty()) {
    const number next = open.back();
    open.pop_back();
    assign_to.for_each(next, [&](const number* one) {
      used_assigns.push_back(one);
      ask(one[1]);
    });
    load_to.for_each(next, [&](const number* one) {
      used_loads.push_back(one);
      ask(one[1]);
      if (!fields.insert(one[2]).second) return;
      store_field.for_each(one[2], [&](const number* store) {
        used_stores.push_back(store);
        ask(store[0]);
        ask(store[2]);
      });
    });
  }
  // Iterates over the dependencies, which are few.
  std::unordered_set<std::uint64_t> holds, heap;
  std::vector<std::vector<number>> objects(1);
  const auto of = [&](number one) -> numbers& {
    if (one >= objects.size()) objects.resize(one + 1);
    return objects[one];
  };
  bool changes = true;
  const auto add = [&](number one, number object) {
    if (!holds.insert(std::uint64_t{one} << 32 | object).second) return;
    of(one).push_back(object);
    changes = true;
  };
  for (const number one : asked) new_of.for_each(one, [&](const number* made) { add(one, made[1]); });
  std::vector<std::vector<std::pair<number, number>>> in_field;  // by field: base object and target object
  const auto field_of = [&](number field) -> std::vector<std::pair<number, number>>& {
    if (field >= in_field.size()) in_field.resize(field + 1);
    return in_field[field];
  };
  while (changes) {
    changes = false;
    for (const number* one : used_assigns) {
      for (const number object : numbers(of(one[1]))) add(one[0], object);
    }
    for (const number* one : used_stores) {
      for (const number base : numbers(of(one[0]))) {
        for (const number object : numbers(of(one[2]))) {
          const std::uint64_t key = (std::uint64_t{base} * 1000003 + one[1]) * 1000003 + object;
          if (heap.insert(key).second) field_of(one[1]).emplace_back(base, object);
        }
      }
    }
    for (const number* one : used_loads) {
      for (const auto& [base, object] : std::vector(field_of(one[2]))) {
        if (holds.contains(std::uint64_t{one[1]} << 32 | base)) add(one[0], object);
      }
    }
  }
  return of(variable);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const std::string what = arguments[1];
  const std::string folder = arguments[2];
  const auto value = [&](int place) { return static_cast<number>(std::stoul(arguments[place])); };
  numbers found;
  if (what == "reach") {
    found = reach(folder, value(3));
  } else if (what == "samegen" && count == 5) {
    found = same_generation(folder, value(3), value(4));
  } else if (what == "points_to") {
    found = points_to(folder, value(3));
  } else {
    return 2;
  }
  std::ofstream out(folder + "/by_hand.csv");
  for (const number one : found) out << one << '\n';
}
