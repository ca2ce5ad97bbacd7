#include <bit>
#include <functional>
#include <limits>
#include <utility>

#include "io/formats/arrow/arrow_columns.hpp"
#include "io/formats/arrow/arrow_reader.hpp"
#include "io/formats/arrow/arrow_writer.hpp"
#include "loading.hpp"

// Apache Arrow itself takes no part here: streams of tables come from gpulog's own export, or from these tests.
namespace gpulog::io {
namespace {

/// One column of a table that a test makes: the buffers behind the first, which tells nulls apart.
struct made_column {
  const char* name;
  const char* format;
  std::vector<const void*> buffers;
  const void* not_null = nullptr;
  made_column* dictionary = nullptr;
  std::int64_t length = 0;  ///< of a dictionary
};

/// A stream with one table, whose structs and buffers belong to the test.
class made_table {
 public:
  made_table(std::int64_t rows, std::vector<made_column> columns, std::int64_t offset = 0)
      : columns_(std::move(columns)) {
    for (made_column& column : columns_) {
      schemas_.push_back(schema_of(column));
      arrays_.push_back(array_of(column, rows + offset));
    }
    for (std::size_t place = 0; place < columns_.size(); ++place) {
      schema_places_.push_back(&schemas_[place]);
      array_places_.push_back(&arrays_[place]);
    }
    stream.private_data = this;
    schema_.format = "+s";
    schema_.n_children = static_cast<std::int64_t>(columns_.size());
    schema_.children = schema_places_.data();
    schema_.release = [](ArrowSchema* own) { own->release = nullptr; };
    array_.length = rows;
    array_.offset = offset;
    array_.n_children = schema_.n_children;
    array_.children = array_places_.data();
    array_.release = [](ArrowArray* own) { own->release = nullptr; };
    stream.get_schema = [](ArrowArrayStream* own, ArrowSchema* out) {
      *out = of(own).schema_;
      return 0;
    };
    stream.get_next = [](ArrowArrayStream* own, ArrowArray* out) {
      *out = std::exchange(of(own).array_, ArrowArray{});
      return 0;
    };
    stream.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  }
  made_table(const made_table&) = delete;
  made_table& operator=(const made_table&) = delete;

  ArrowArrayStream stream{};

 private:
  static made_table& of(ArrowArrayStream* own) { return *static_cast<made_table*>(own->private_data); }

  ArrowSchema schema_of(made_column& column) {
    ArrowSchema schema{};
    schema.format = column.format;
    schema.name = column.name;
    if (column.dictionary != nullptr) schema.dictionary = new_schema(*column.dictionary);
    return schema;
  }
  ArrowArray array_of(made_column& column, std::int64_t length) {
    ArrowArray array{};
    column.buffers.insert(column.buffers.begin(), column.not_null);
    array.length = length;
    array.null_count = column.not_null == nullptr ? 0 : -1;
    array.n_buffers = static_cast<std::int64_t>(column.buffers.size());
    array.buffers = column.buffers.data();
    if (column.dictionary != nullptr) array.dictionary = new_array(*column.dictionary);
    return array;
  }
  ArrowSchema* new_schema(made_column& column) {
    own_schemas_.push_back(std::make_unique<ArrowSchema>(schema_of(column)));
    return own_schemas_.back().get();
  }
  ArrowArray* new_array(made_column& column) {
    own_arrays_.push_back(std::make_unique<ArrowArray>(array_of(column, column.length)));
    return own_arrays_.back().get();
  }

  std::vector<made_column> columns_;
  std::vector<ArrowSchema> schemas_;
  std::vector<ArrowArray> arrays_;
  std::vector<ArrowSchema*> schema_places_;
  std::vector<ArrowArray*> array_places_;
  std::vector<std::unique_ptr<ArrowSchema>> own_schemas_;
  std::vector<std::unique_ptr<ArrowArray>> own_arrays_;
  ArrowSchema schema_{};
  ArrowArray array_{};
};

struct arrow_loading : loading {
  using loading::loading;

  std::uint64_t load(ArrowArrayStream& stream) {
    columns.assign(request.kinds.size(), {});
    return read_arrow_rows(stream, request, symbols, [&](std::uint64_t rows) {
      std::vector<word*> places;
      for (auto& column : columns) {
        column.assign(rows, 0xdeadbeef);
        places.push_back(column.data());
      }
      return places;
    });
  }

  std::string problem(std::int64_t rows, std::vector<made_column> made) {
    try {
      made_table table(rows, std::move(made));
      load(table.stream);
    } catch (const user_error& failure) {
      return failure.what();
    }
    return "no error";
  }
};

const std::int64_t integers[] = {7, -1, 2147483648};
const std::int32_t ends[] = {0, 1, 3, 3};
const char bytes[] = "xyz";
const std::uint8_t second_is_null[] = {0b101};

TEST(arrow_reader, values_of_every_width) {
  const std::int8_t i8[] = {-128, 127};
  const std::uint16_t u16[] = {65535, 1};
  const std::int64_t i64[] = {-2147483648, 2147483647};
  const std::uint64_t u64[] = {4294967295, 0};
  const double real[] = {0.5, 3};
  const std::uint8_t bits[] = {0b10};
  arrow_loading load({number, number, number, unsigned_number, floating, number});
  made_table table(2, {{"a", "c", {i8}},
                       {"b", "S", {u16}},
                       {"c", "l", {i64}},
                       {"d", "L", {u64}},
                       {"e", "g", {real}},
                       {"f", "b", {bits}}});
  EXPECT_EQ(load.load(table.stream), 2U);
  EXPECT_EQ(load.columns[0], (std::vector<word>{0xffffff80, 127}));
  EXPECT_EQ(load.columns[1], (std::vector<word>{65535, 1}));
  EXPECT_EQ(load.columns[2], (std::vector<word>{0x80000000, 0x7fffffff}));
  EXPECT_EQ(load.columns[3], (std::vector<word>{4294967295, 0}));
  EXPECT_EQ(load.columns[4], (std::vector<word>{std::bit_cast<word>(0.5F), std::bit_cast<word>(3.0F)}));
  EXPECT_EQ(load.columns[5], (std::vector<word>{0, 1}));
}

TEST(arrow_reader, texts_of_every_form) {
  const std::int64_t long_ends[] = {0, 2, 3};
  struct view {
    std::int32_t size;
    char text[12];
  };
  const char longer[] = "...longer than twelve bytes";
  view views[] = {{2, "ab"}, {24, ""}};
  const std::int32_t place[] = {0, 3};
  std::copy_n(reinterpret_cast<const char*>(place), sizeof place, views[1].text + 4);
  const std::uint8_t index[] = {2, 0};
  made_column dictionary{"", "u", {ends, bytes}, nullptr, nullptr, 3};
  const std::int64_t sizes[] = {sizeof longer};
  made_table table(2, {{"a", "u", {ends, bytes}},
                       {"b", "Z", {long_ends, bytes}},
                       {"c", "vu", {views, longer, sizes}},
                       {"d", "C", {index}, nullptr, &dictionary}});
  arrow_loading load({symbol, symbol, symbol, symbol});
  EXPECT_EQ(load.load(table.stream), 2U);
  EXPECT_EQ(load.texts(0), (std::vector<std::string>{"x", "yz"}));
  EXPECT_EQ(load.texts(1), (std::vector<std::string>{"xy", "z"}));
  EXPECT_EQ(load.texts(2), (std::vector<std::string>{"ab", "longer than twelve bytes"}));
  EXPECT_EQ(load.texts(3), (std::vector<std::string>{"", "x"}));
  EXPECT_EQ(load.columns[0], (std::vector<word>{0, 4})) << "numbers by rows, then columns";
}

TEST(arrow_reader, numbers_as_symbols_and_texts_as_numbers) {
  const char digits[] = "12-3";
  const std::int32_t digit_ends[] = {0, 2, 4};
  made_table table(2, {{"a", "u", {digit_ends, digits}}, {"b", "l", {integers}}});
  arrow_loading load({number, symbol});
  EXPECT_EQ(load.load(table.stream), 2U);
  EXPECT_EQ(load.columns[0], (std::vector<word>{12, static_cast<word>(-3)}));
  EXPECT_EQ(load.texts(1), (std::vector<std::string>{"7", "-1"}));
}

TEST(arrow_reader, columns_by_name_by_place_or_by_parameter) {
  const std::int32_t one[] = {10, 11};
  const std::int32_t two[] = {20, 21};
  const std::int32_t three[] = {30, 31};
  const std::vector<made_column> columns = {{"x", "i", {one}}, {"y", "i", {two}}, {"z", "i", {three}}};
  arrow_loading load({number, number});
  const auto found = [&](std::int64_t offset) {
    made_table table(2 - offset, columns, offset);
    load.load(table.stream);
    return load.columns;
  };
  EXPECT_EQ(found(0), (column_words{{10, 11}, {20, 21}}));
  load.request.attribute_names = {"z", "x"};
  EXPECT_EQ(found(0), (column_words{{30, 31}, {10, 11}}));
  EXPECT_EQ(found(1), (column_words{{31}, {11}})) << "a slice of a table";
  load.request.attribute_names = {"z", "other"};
  EXPECT_EQ(found(0), (column_words{{10, 11}, {20, 21}}));
  load.request.parameters["columns"] = "2:1";
  EXPECT_EQ(found(0), (column_words{{30, 31}, {20, 21}}));
}

TEST(arrow_reader, errors) {
  arrow_loading load({number});
  EXPECT_EQ(load.problem(3, {{"a", "l", {integers}}}),
            "Error converting <2147483648> in column 1 in row 3\nNumbers have 32 bits here; with word_size=64 they "
            "have 64 bits");
  EXPECT_EQ(load.problem(2, {{"a", "l", {integers}, second_is_null}}), "Error converting NULL in column 1 in row 2");
  EXPECT_EQ(load.problem(1, {{"a", "u", {ends, bytes}}}), "Error converting <x> in column 1 in row 1");
  EXPECT_EQ(load.problem(1, {{"when", "tss:", {integers}}}), "Column 1 (when) has a type that is not read: tss:");
  EXPECT_EQ(load.problem(0, {}), "0 columns instead of 1");
  arrow_loading unsigned_load({unsigned_number});
  EXPECT_EQ(unsigned_load.problem(2, {{"a", "l", {integers}}}), "Error converting <-1> in column 1 in row 2");
}

TEST(arrow_reader, errors_of_ten_rows_and_how_many_more) {
  // Several pieces, with faults at their borders.
  constexpr std::int64_t rows = 3 * 65536;
  std::vector<std::int64_t> numbers(rows);
  std::uint64_t faults = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool is_faulty = row % 16384 == 0 || row == 65535;
    numbers[static_cast<std::size_t>(row)] = is_faulty ? std::int64_t{1} << 32 : row;
    faults += is_faulty ? 1 : 0;
  }
  for (const bool has_symbols : {false, true}) {
    for (const unsigned threads : {1U, 2U, 4U}) {
      arrow_loading load(has_symbols ? std::vector<value_kind>{number, symbol}
                                     : std::vector<value_kind>{number, number});
      load.request.threads = threads;
      const std::string shown = load.problem(rows, {{"a", "l", {numbers.data()}}, {"b", "l", {numbers.data()}}});
      EXPECT_TRUE(
          shown.starts_with("Error converting <4294967296> in column 1 in row 1\n"
                            "Error converting <4294967296> in column 1 in row 16385\n"))
          << shown;
      EXPECT_NE(shown.find("in row 65536\nError converting <4294967296> in column 1 in row 65537\n"),
                std::string::npos);
      EXPECT_NE(shown.find(std::to_string(faults - 10) + " more\n"), std::string::npos) << shown;
    }
  }
}

/// Rows that are exported and read again.
column_words again(const relation_rows& rows, const storage::symbol_table& symbols, unsigned threads,
                   std::vector<std::string>* formats = nullptr) {
  arrow_owned<ArrowArrayStream> stream;
  export_arrow_rows(rows, symbols, *stream.get());
  if (formats != nullptr) {
    arrow_owned<ArrowSchema> schema;
    EXPECT_EQ(stream->get_schema(stream.get(), schema.get()), 0);
    for (std::int64_t column = 0; column < schema->n_children; ++column) {
      formats->emplace_back(schema->children[column]->format);
    }
  }
  arrow_loading load(rows.kinds);
  for (word id = 0; id < symbols.size(); ++id) load.symbols.intern(symbols.text(id));
  load.request.threads = threads;
  load.load(*stream.get());
  return load.columns;
}

TEST(arrow_writer, what_is_exported_is_read) {
  storage::symbol_table symbols;
  const word nul = symbols.intern(std::string("a\0b", 3));
  const word empty = symbols.intern("");
  const word broken = symbols.intern("\xff");
  column_words words(5);
  constexpr std::uint64_t n = 200'000;  // two batches
  for (std::uint64_t row = 0; row < n; ++row) {
    words[0].push_back(static_cast<word>(row * 77777));
    words[1].push_back(static_cast<word>(~row));
    words[2].push_back(std::bit_cast<word>(static_cast<float>(row) / 3));
    words[3].push_back(row % 2 == 0 ? nul : empty);
    words[4].push_back(row + 1 == n ? broken : empty);
  }
  relation_rows rows;
  rows.relation = "r";
  rows.kinds = {number, unsigned_number, floating, symbol, symbol};
  rows.attribute_names = {"a", "b", "c", "d", "e"};
  for (const auto& column : words) rows.columns.push_back(column.data());
  rows.rows = n;
  std::vector<std::string> formats;
  EXPECT_EQ(again(rows, symbols, 1, &formats), words);
  EXPECT_EQ(formats, (std::vector<std::string>{"i", "I", "f", "U", "Z"})) << "bytes where a text is not UTF-8";
  EXPECT_EQ(again(rows, symbols, 4), words);
}

TEST(arrow_writer, new_symbols_have_the_numbers_of_one_thread) {
  storage::symbol_table symbols;
  column_words words(2);
  for (word row = 0; row < 150'000; ++row) {
    words[0].push_back(symbols.intern("a" + std::to_string(row % 70'000)));
    words[1].push_back(symbols.intern("b" + std::to_string(row / 2)));
  }
  relation_rows rows;
  rows.kinds = {symbol, symbol};
  for (const auto& column : words) rows.columns.push_back(column.data());
  rows.rows = words[0].size();
  for (const unsigned threads : {1U, 4U}) {
    arrow_owned<ArrowArrayStream> stream;
    export_arrow_rows(rows, symbols, *stream.get());
    arrow_loading load(rows.kinds);
    load.request.threads = threads;
    EXPECT_EQ(load.load(*stream.get()), rows.rows);
    EXPECT_EQ(load.columns, words);
  }
}

TEST(arrow_writer, no_rows_and_no_columns) {
  storage::symbol_table symbols;
  relation_rows rows;
  rows.kinds = {number};
  rows.columns = {nullptr};
  EXPECT_EQ(again(rows, symbols, 1), (column_words{{}}));
  rows.kinds.clear();
  rows.columns.clear();
  rows.rows = 1;
  arrow_owned<ArrowArrayStream> stream;
  export_arrow_rows(rows, symbols, *stream.get());
  arrow_loading load(std::vector<value_kind>{});
  EXPECT_EQ(load.load(*stream.get()), 1U);
}

TEST(arrow_writer, not_utf_8) {
  for (const char* text :
       {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3", "a\xe2\x82"}) {
    storage::symbol_table symbols;
    const column_words words{{symbols.intern(text)}};
    relation_rows rows;
    rows.kinds = {symbol};
    rows.columns = {words[0].data()};
    rows.rows = 1;
    std::vector<std::string> formats;
    EXPECT_EQ(again(rows, symbols, 1, &formats), words);
    EXPECT_EQ(formats, (std::vector<std::string>{"Z"})) << text;
  }
}

}  // namespace
}  // namespace gpulog::io
