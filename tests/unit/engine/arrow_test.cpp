// Facts and results as Arrow C data.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpulog/engine.hpp"

namespace {

using gpulog::engine;
using gpulog::program;

/// A stream of one array over buffers of the test.
struct given_stream {
  ArrowSchema schema{};
  ArrowArray array{};
  bool is_read = false;
  std::string failure;
  ArrowArrayStream stream{};

  given_stream(const char* format, std::int64_t length, std::vector<const void*> its_buffers)
      : buffers(std::move(its_buffers)) {
    schema.format = format;
    schema.name = "";
    schema.release = [](ArrowSchema* one) { one->release = nullptr; };
    array.length = length;
    array.n_buffers = static_cast<std::int64_t>(buffers.size());
    array.buffers = buffers.data();
    array.release = [](ArrowArray* one) { one->release = nullptr; };
    stream.private_data = this;
    stream.get_schema = [](ArrowArrayStream* one, ArrowSchema* made) {
      *made = itself(one).schema;
      return 0;
    };
    stream.get_next = [](ArrowArrayStream* one, ArrowArray* made) {
      given_stream& given = itself(one);
      if (!given.failure.empty()) return 5;
      *made = given.is_read ? ArrowArray{} : given.array;
      given.is_read = true;
      return 0;
    };
    stream.get_last_error = [](ArrowArrayStream* one) { return itself(one).failure.c_str(); };
    stream.release = [](ArrowArrayStream* one) { one->release = nullptr; };
  }
  given_stream(const given_stream&) = delete;
  given_stream& operator=(const given_stream&) = delete;
  ~given_stream() = default;

  /// Turns the stream into a stream of struct arrays with the given children.
  void set_fields(const std::vector<std::pair<const char*, given_stream*>>& fields) {
    for (const auto& [name, field] : fields) {
      field->schema.name = name;
      schemas.push_back(&field->schema);
      arrays.push_back(&field->array);
    }
    schema.n_children = array.n_children = static_cast<std::int64_t>(fields.size());
    schema.children = schemas.data();
    array.children = arrays.data();
  }

  static given_stream& itself(ArrowArrayStream* one) { return *static_cast<given_stream*>(one->private_data); }

  std::vector<const void*> buffers;
  std::vector<ArrowSchema*> schemas;
  std::vector<ArrowArray*> arrays;
};

/// Copies the rows of a relation into another relation by a stream.
void copy_rows(const gpulog::relation& from, gpulog::relation to, const gpulog::arrow_options& options = {}) {
  ArrowArrayStream rows;
  from.to_arrow(rows, options);
  to.insert_arrow(rows);
  rows.release(&rows);
}

std::multiset<std::string> texts_of(const gpulog::relation& relation) {
  std::multiset<std::string> result;
  for (const gpulog::tuple row : relation) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) line += row.text(column) + "\t";
    result.insert(line);
  }
  return result;
}

template <class Insert>
std::string message_of(const Insert& insert) {
  try {
    insert();
  } catch (const gpulog::input_error& problem) {
    return problem.what();
  }
  return "none";
}

program with_words_of(unsigned bits, const std::string& text) {
  gpulog::compile_options options;
  options.word_size = bits;
  return program::from_text(text, options);
}

TEST(arrow, rows_come_back_as_they_were) {
  const std::string text =
      ".type Pair = [x:number, s:symbol]\n.type Tree = Leaf {} | Node {left:Tree, right:Tree}\n"
      ".decl in(n:number, u:unsigned, f:float, s:symbol, p:Pair, t:Tree)\n"
      ".decl out(n:number, u:unsigned, f:float, s:symbol, p:Pair, t:Tree)\n"
      "in(n, u, f, cat(\"text, \", to_string(n)), [n, \"a \\\"b, c\"], $Node($Leaf(), $Leaf())) :-\n"
      "  n = range(0, @size@), u = as(n * 2, unsigned), f = to_float(n) / 4.\n"
      "in(-5, 7, -0.5, \"\", nil, $Leaf()).\nout(n,u,f,s,p,t) :- in(n,u,f,s,p,t).\n";
  for (const unsigned bits : {32U, 64U}) {
    for (const int size : {0, 1, 31, 32, 33, 3000}) {
      std::string sized = text;
      sized.replace(sized.find("@size@"), 6, std::to_string(size));
      engine first(with_words_of(bits, sized));
      first.evaluate();
      const auto wanted = texts_of(first.relation("out"));
      ASSERT_EQ(wanted.size(), static_cast<std::size_t>(size) + 1);
      for (const gpulog::arrow_options options :
           {gpulog::arrow_options{}, {true, false}, {false, true}, {true, true}}) {
        sized = text;
        sized.erase(sized.find("in(n, u"), sized.find("out(n,u") - sized.find("in(n, u"));
        engine second(with_words_of(bits, sized));
        copy_rows(first.relation("in"), second.relation("in"), options);
        EXPECT_EQ(texts_of(second.relation("in")), wanted);
        second.evaluate();
        EXPECT_EQ(texts_of(second.relation("out")), wanted);
      }
    }
  }
}

TEST(arrow, pairs_of_an_equivalence_relation_release_only) {
  engine first(program::from_text(".decl e(x:number, y:number) eqrel\ne(x, x + 1) :- x = range(0, 1200).\n"));
  first.evaluate();
  engine second(program::from_text(".decl e(x:number, y:number)\n"));
  copy_rows(first.relation("e"), second.relation("e"));
  EXPECT_EQ(second.relation("e").size(), 1201U * 1201U);  // in more than one array
  const auto pairs_of = [](const gpulog::relation& pairs) {
    std::vector<std::pair<std::int32_t, std::int32_t>> found;
    for (const gpulog::tuple row : pairs) found.emplace_back(row.number(0), row.number(1));
    std::sort(found.begin(), found.end());
    return found;
  };
  EXPECT_TRUE(pairs_of(second.relation("e")) == pairs_of(first.relation("e")));
}

TEST(arrow, a_relation_without_attributes) {
  engine first(program::from_text(".decl yes()\nyes().\n.decl no()\n"));
  first.evaluate();
  engine second(program::from_text(".decl yes()\n.decl no()\n"));
  copy_rows(first.relation("yes"), second.relation("yes"));
  copy_rows(first.relation("no"), second.relation("no"));
  second.evaluate();
  EXPECT_EQ(second.relation("yes").size(), 1U);
  EXPECT_EQ(second.relation("no").size(), 0U);
}

TEST(arrow, numbers_are_not_copied_and_outlive_the_engine) {
  ArrowArray rows;
  {
    engine run(program::from_text(".decl a(x:number, y:float)\na(x, to_float(x)) :- x = range(0, 100).\n"));
    run.evaluate();
    ArrowArray again;
    for (ArrowArray* const made : {&rows, &again}) {
      ArrowArrayStream stream;
      run.relation("a").to_arrow(stream);
      ASSERT_EQ(stream.get_next(&stream, made), 0);
      stream.release(&stream);
    }
    EXPECT_EQ(rows.children[0]->buffers[1], again.children[0]->buffers[1]);
    again.release(&again);
  }
  const auto* const numbers = static_cast<const std::int32_t*>(rows.children[0]->buffers[1]);
  const auto* const floats = static_cast<const float*>(rows.children[1]->buffers[1]);
  int sum = 0;
  for (std::int64_t row = 0; row < rows.length; ++row) {
    EXPECT_EQ(static_cast<float>(numbers[row]), floats[row]);
    sum += numbers[row];
  }
  EXPECT_EQ(sum, 4950);
  rows.release(&rows);
}

TEST(arrow, bytes_that_are_no_text) {
  for (const char* const bytes : {"\xff", "caf\xe9", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "12345678\xc3"}) {
    engine run(program::from_text(".decl a(s:symbol)\n"));
    run.relation("a").insert({bytes});
    for (const bool dictionaries : {false, true}) {
      ArrowArrayStream stream;
      ArrowArray rows;
      run.relation("a").to_arrow(stream, {dictionaries, false});
      EXPECT_NE(stream.get_next(&stream, &rows), 0);
      EXPECT_EQ(std::string_view(stream.get_last_error(&stream)),
                "a symbol is no UTF-8, so that it is no text for Arrow: have symbols as bytes");
      stream.release(&stream);
      engine other(program::from_text(".decl a(s:symbol)\n"));
      copy_rows(run.relation("a"), other.relation("a"), {dictionaries, true});
      EXPECT_TRUE(other.relation("a").contains({bytes}));
    }
  }
}

/// Returns the values of the only column after the insertion of an array.
std::multiset<std::string> inserted(const std::string& type, given_stream& column) {
  engine run(program::from_text(".decl a(x:" + type + ")\n"));
  run.relation("a").insert_arrow(column.stream);
  return texts_of(run.relation("a"));
}

TEST(arrow, integers_of_any_size) {
  const std::int8_t tiny[] = {-3, 0, 5};
  const std::uint16_t small[] = {9, 3, 0, 5};
  const std::int64_t large[] = {-3, 0, 5};
  given_stream of_tiny("c", 3, {nullptr, tiny});
  EXPECT_EQ(inserted("number", of_tiny), (std::multiset<std::string>{"-3\t", "0\t", "5\t"}));
  given_stream of_small("S", 3, {nullptr, small});
  of_small.array.offset = 1;
  EXPECT_EQ(inserted("unsigned", of_small), (std::multiset<std::string>{"3\t", "0\t", "5\t"}));
  given_stream of_large("l", 3, {nullptr, large});
  EXPECT_EQ(inserted("number", of_large), (std::multiset<std::string>{"-3\t", "0\t", "5\t"}));
  given_stream as_floats("l", 3, {nullptr, large});
  EXPECT_EQ(inserted("float", as_floats), (std::multiset<std::string>{"-3\t", "0\t", "5\t"}));
}

TEST(arrow, doubles_are_rounded) {
  const double values[] = {0.1, -0.0, 0.0};
  given_stream column("g", 3, {nullptr, values});
  engine run(program::from_text(".decl a(x:float)\n.decl b(x:float)\nb(x) :- a(x).\n"));
  run.relation("a").insert_arrow(column.stream);
  run.evaluate();
  EXPECT_EQ(run.relation("b").size(), 2U);
  EXPECT_TRUE(run.relation("b").contains({0.1F}));
}

TEST(arrow, decimals_are_numbers) {
  const std::int64_t values[] = {45, 0, -5, -1, 7, 0};  // lower and upper halves of three values
  given_stream whole("d:38,0", 3, {nullptr, values});
  EXPECT_EQ(inserted("number", whole), (std::multiset<std::string>{"-5\t", "45\t", "7\t"}));
  given_stream part("_pli128", 1, {nullptr, values});
  part.array.offset = 2;
  EXPECT_EQ(inserted("unsigned", part), (std::multiset<std::string>{"7\t"}));
  given_stream with_places("d:18,1", 3, {nullptr, values});
  EXPECT_EQ(inserted("float", with_places), (std::multiset<std::string>{"-0.5\t", "4.5\t", "0.699999988\t"}));
  const std::int32_t small[] = {-5, 25};
  given_stream of_32_bits("d:9,1,32", 2, {nullptr, small});
  EXPECT_EQ(inserted("float", of_32_bits), (std::multiset<std::string>{"-0.5\t", "2.5\t"}));
  given_stream of_64_bits("d:18,0,64", 2, {nullptr, values + 2});
  EXPECT_EQ(inserted("number", of_64_bits), (std::multiset<std::string>{"-5\t", "-1\t"}));
}

TEST(arrow, erased_rows_are_no_facts) {
  const std::int32_t numbers[] = {1, 2, 3};
  const std::int32_t erased[] = {3, 9, 1};
  for (const bool is_evaluated : {false, true}) {
    engine run(program::from_text(".decl a(x:number)\n.decl b(x:number)\nb(x) :- a(x).\n"));
    given_stream rows("i", 3, {nullptr, numbers});
    run.relation("a").insert_arrow(rows.stream);
    if (is_evaluated) run.evaluate();
    given_stream one("i", 2, {nullptr, erased});
    run.relation("a").erase_arrow(one.stream);
    given_stream other("i", 1, {nullptr, erased + 2});
    ArrowArrayStream* const columns[] = {&other.stream};
    run.relation("a").erase_arrow_columns(columns);
    run.evaluate();
    EXPECT_EQ(texts_of(run.relation("b")), (std::multiset<std::string>{"2\t"}));
  }
}

TEST(arrow, texts_of_every_layout) {
  const std::multiset<std::string> wanted{"one\t", "a longer text than that\t", "\t"};
  const char* const bytes = "##onea longer text than that";
  const std::int32_t small[] = {0, 2, 5, 28, 28};
  given_stream of_small("u", 3, {nullptr, small, bytes});
  of_small.array.offset = 1;
  EXPECT_EQ(inserted("symbol", of_small), wanted);
  const std::int64_t large[] = {2, 5, 28, 28};
  given_stream of_large("Z", 3, {nullptr, large, bytes});
  EXPECT_EQ(inserted("symbol", of_large), wanted);
  char views[3][16] = {};
  const std::int32_t short_length = 3;
  std::memcpy(views[0], &short_length, 4);
  std::memcpy(views[0] + 4, "one", 3);
  const std::int32_t parts[] = {23, 0, 0, 5};
  std::memcpy(views[1], parts, 16);
  given_stream of_views("vu", 3, {nullptr, views, bytes});
  EXPECT_EQ(inserted("symbol", of_views), wanted);
}

TEST(arrow, columns_go_to_attributes_by_name_or_by_place) {
  const std::int32_t ones[] = {1};
  const std::int32_t twos[] = {2};
  const auto row_of = [&](const char* first, const char* second) {
    engine run(program::from_text(".decl a(x:number, y:number)\n"));
    given_stream one("i", 1, {nullptr, ones});
    given_stream two("i", 1, {nullptr, twos});
    given_stream rows("+s", 1, {nullptr});
    rows.set_fields({{first, &one}, {second, &two}});
    const std::string message = message_of([&] { run.relation("a").insert_arrow(rows.stream); });
    return message == "none" ? *texts_of(run.relation("a")).begin() : message;
  };
  EXPECT_EQ(row_of("x", "y"), "1\t2\t");
  EXPECT_EQ(row_of("y", "x"), "2\t1\t");
  EXPECT_EQ(row_of("from", "to"), "1\t2\t");
  EXPECT_EQ(row_of("y", "z"), "no column is named x, as an attribute of relation a is; others are");
}

TEST(arrow, what_does_not_fit_inserts_nothing) {
  engine run(program::from_text(".decl a(n:number, s:symbol)\n.decl b(n:number)\n.decl u(n:unsigned)\n.decl e()\n"));
  const std::int64_t numbers[] = {1, 2, std::int64_t{1} << 40};
  const std::uint8_t valid = 5;
  const float floats[] = {1, 2, 3};
  const std::int32_t offsets[] = {0, 1, 2, 3};
  const auto message = [&run](const char* name, given_stream& rows) {
    const std::string result = message_of([&] { run.relation(name).insert_arrow(rows.stream); });
    EXPECT_EQ(run.relation(name).size(), 0U);
    rows.is_read = false;
    return result;
  };
  given_stream large("l", 3, {nullptr, numbers});
  EXPECT_EQ(message("b", large),
            "row 2 of attribute n of relation b is no number of 32 bits: 1099511627776; with word_size=64 it fits");
  EXPECT_EQ(message("a", large), "relation a has 2 attributes, but one column was given");
  const std::int64_t negative[] = {-1};
  given_stream below("l", 1, {nullptr, negative});
  EXPECT_EQ(message("u", below), "row 0 of attribute n of relation u is no unsigned of 32 bits: -1");
  given_stream nulls("l", 3, {&valid, numbers});
  nulls.array.null_count = -1;
  EXPECT_EQ(message("b", nulls), "row 1 of attribute n of relation b is null");
  given_stream wrong("f", 3, {nullptr, floats});
  EXPECT_EQ(
      message("b", wrong),
      "attribute n of relation b is of type number, and not for floats: convert the column to integers, or declare "
      "the attribute as float");
  given_stream texts("u", 3, {nullptr, offsets, "abc"});
  EXPECT_EQ(message("b", texts), "attribute n of relation b is of type number, and not for texts");
  given_stream dates("tdD", 3, {nullptr, numbers});
  EXPECT_EQ(message("b", dates), "attribute n of relation b is of type number, and not for dates or times");
  given_stream failing("l", 3, {nullptr, numbers});
  failing.failure = "the disk is gone";
  EXPECT_EQ(message("b", failing), "a stream of Arrow arrays fails: the disk is gone");
  given_stream rows("+s", 3, {nullptr});
  rows.set_fields({{"n", &large}});
  EXPECT_EQ(message("a", rows), "relation a has 2 attributes, but 1 columns were given");
  EXPECT_EQ(message_of([&] {
              ArrowArrayStream* const columns[] = {&below.stream, &texts.stream};
              run.relation("a").insert_arrow_columns(columns);
            }),
            "attribute s of relation a has 3 values, but attribute n has 1");
  EXPECT_EQ(message_of([&] { run.relation("e").insert_arrow_columns({}); }),
            "relation e has no attributes: how many tuples there are is unknown");
  EXPECT_EQ(run.relation("a").size(), 0U);
  run.evaluate();
  EXPECT_EQ(message("b", large),
            "row 2 of attribute n of relation b is no number of 32 bits: 1099511627776; with word_size=64 it fits");
  run.evaluate();
  EXPECT_EQ(run.relation("b").size(), 0U);
  below.is_read = false;
  EXPECT_EQ(message_of([&] { run.relation("b").insert_arrow(below.stream); }), "none");
  run.evaluate();
  EXPECT_TRUE(run.relation("b").contains({-1}));
}

/// Returns the rows of a stream: the numbers of all columns by row.
std::multiset<std::vector<std::int32_t>> numbers_in(const std::vector<ArrowArray>& arrays) {
  std::multiset<std::vector<std::int32_t>> rows;
  for (const ArrowArray& array : arrays) {
    for (std::int64_t row = 0; row < array.length; ++row) {
      std::vector<std::int32_t> numbers;
      for (std::int64_t c = 0; c < array.n_children; ++c)
        numbers.push_back(static_cast<const std::int32_t*>(array.children[c]->buffers[1])[row]);
      rows.insert(std::move(numbers));
    }
  }
  return rows;
}

std::vector<ArrowArray> arrays_of(ArrowArrayStream& stream) {
  std::vector<ArrowArray> arrays;
  for (;;) {
    ArrowArray array;
    if (stream.get_next(&stream, &array) != 0 || array.release == nullptr) break;
    arrays.push_back(array);
  }
  stream.release(&stream);
  return arrays;
}

/// Arrays and streams show the rows from the time when the stream was made, no matter when they are read.
class shown_rows {
 public:
  explicit shown_rows(const gpulog::relation& relation) {
    ArrowArrayStream stream;
    relation.to_arrow(stream);
    arrays_ = arrays_of(stream);
    relation.to_arrow(later_);
    wanted_ = numbers_in(arrays_);
  }
  shown_rows(const shown_rows&) = delete;
  shown_rows& operator=(const shown_rows&) = delete;
  ~shown_rows() {
    for (ArrowArray& array : arrays_) array.release(&array);
    if (later_.release != nullptr) later_.release(&later_);
  }

  [[nodiscard]] std::size_t rows() const { return wanted_.size(); }
  void expect_unchanged() {
    EXPECT_EQ(numbers_in(arrays_), wanted_);
    std::vector<ArrowArray> others = arrays_of(later_);
    EXPECT_EQ(numbers_in(others), wanted_);
    for (ArrowArray& array : others) array.release(&array);
  }

 private:
  std::vector<ArrowArray> arrays_;
  ArrowArrayStream later_{};
  std::multiset<std::vector<std::int32_t>> wanted_;
};

constexpr const char* grown =
    ".decl fact(x:number, y:number)\nfact(x, x + 1) :- x = range(0, 50).\n"
    ".decl given(x:number, y:number)\n"
    ".decl path(x:number, y:number)\npath(x,y) :- fact(x,y).\npath(x,y) :- given(x,y).\n"
    "path(x,z) :- path(x,y), path(y,z).\n"
    ".decl same(x:number, y:number) eqrel\nsame(x,y) :- given(x,y).\n";

TEST(arrow, arrays_stay_as_they_are_when_the_engine_is_evaluated_again) {
  for (const gpulog::storage_kind storage : {gpulog::storage_kind::automatic, gpulog::storage_kind::hash,
                                             gpulog::storage_kind::hisa, gpulog::storage_kind::bits}) {
    gpulog::run_options options;
    options.storage = storage;
    engine run(program::from_text(grown), options);
    run.relation("given").insert({50, 51});
    shown_rows staged(run.relation("given"));
    EXPECT_EQ(staged.rows(), 1U);
    run.evaluate();
    shown_rows path(run.relation("path"));
    shown_rows given(run.relation("given"));
    shown_rows same(run.relation("same"));
    EXPECT_EQ(path.rows(), 1326U);
    run.relation("given").insert({51, 52});
    run.relation("given").erase({50, 51});
    run.evaluate();
    EXPECT_EQ(run.relation("path").size(), 1276U);
    EXPECT_TRUE(run.relation("path").contains({51, 52}));
    for (shown_rows* const shown : {&staged, &path, &given, &same}) shown->expect_unchanged();
  }
}

TEST(arrow, arrays_stay_as_they_are_when_the_engine_is_reset) {
  auto run = std::make_unique<engine>(program::from_text(grown));
  run->relation("given").insert({50, 51});
  run->evaluate();
  shown_rows path(run->relation("path"));
  shown_rows same(run->relation("same"));
  run->reset();
  run->relation("given").insert({1, 0});
  run->evaluate();
  shown_rows other(run->relation("path"));
  EXPECT_EQ(path.rows(), 1326U);
  EXPECT_EQ(other.rows(), 1278U);
  run.reset();
  for (shown_rows* const shown : {&path, &same, &other}) shown->expect_unchanged();
}

TEST(arrow, no_file_is_read_for_a_relation_that_the_caller_fills) {
  gpulog::compile_options options;
  options.filled_relations = {"a"};
  engine run(program::from_text(".decl a(x:number)\n.input a(filename=\"is not there\")\n", options));
  run.relation("a").insert({1});
  run.load();
  run.evaluate();
  EXPECT_EQ(run.relation("a").size(), 1U);
}

}  // namespace
