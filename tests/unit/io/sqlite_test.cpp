#include <bit>
#include <cmath>
#include <limits>

#include "io/formats/sqlite/sqlite_database.hpp"
#include "io/relation_writer.hpp"
#include "loading.hpp"

namespace gpulog::io {
namespace {

/// A loading from the table r of r.sqlite, or of another database.
struct sqlite_loading : loading {
  explicit sqlite_loading(std::vector<value_kind> kinds) : loading(std::move(kinds)) {
    request.parameters = {{"IO", "sqlite"}};
  }
  void execute(const std::string& statements) const {
    sqlite_database((folder.path() / "r.sqlite").string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        .execute(statements);
  }
  std::string problem() {
    try {
      run();
    } catch (const user_error& failure) {
      return failure.what();
    }
    return "no error";
  }
};

TEST(sqlite_reader, values_of_every_kind) {
  sqlite_loading load({number, symbol, floating, unsigned_number});
  load.execute(
      "CREATE TABLE r (a, b, c, d, more); INSERT INTO r VALUES (-2147483648, 'one', 0.5, 4294967295, NULL),"
      "(2.0, '', 2, '7', 1), ('3', 12, -0.0, 0, 2)");
  EXPECT_EQ(load.run(), 3U);
  EXPECT_EQ(load.columns[0], (std::vector<word>{0x80000000, 2, 3}));
  EXPECT_EQ(load.texts(1), (std::vector<std::string>{"one", "", "12"}));
  EXPECT_EQ(load.columns[2], (std::vector<word>{std::bit_cast<word>(0.5F), std::bit_cast<word>(2.0F), 0}));
  EXPECT_EQ(load.columns[3], (std::vector<word>{4294967295, 7, 0}));
}

TEST(sqlite_reader, errors) {
  sqlite_loading load({number, symbol});
  EXPECT_EQ(load.problem(), "Error loading r data: Cannot open fact file r.sqlite");
  EXPECT_EQ(load.folder.file_count(), 0U);
  const auto expect = [&](const std::string& statements, const std::string& what) {
    load.execute("DROP TABLE IF EXISTS r;" + statements);
    const std::string shown = load.problem();
    EXPECT_EQ(shown.substr(0, shown.find('\n')),
              "Error loading r data: " + what + "; cannot parse fact file r.sqlite!");
  };
  expect("", "No table or view r");
  expect("CREATE TABLE r (a)", "Table r has 1 columns instead of 2");
  expect("CREATE TABLE r (a, b); INSERT INTO r VALUES (1, 'x'), (-2147483649, 'x')",
         "Error converting <-2147483649> in column 1 in row 2");
  expect("CREATE TABLE r (a, b); INSERT INTO r VALUES (1.5, 'x')", "Error converting <1.5> in column 1 in row 1");
  expect("CREATE TABLE r (a, b); INSERT INTO r VALUES ('1x', 'x')", "Error converting <1x> in column 1 in row 1");
  expect("CREATE TABLE r (a, b); INSERT INTO r VALUES (NULL, 'x')", "Error converting NULL in column 1 in row 1");
  expect("CREATE TABLE r (a, b); INSERT INTO r VALUES (1, x'00')", "Error converting a blob in column 2 in row 1");
  load.folder.write("r.sqlite", "this is a text and no database, though it is longer than a header");
  EXPECT_EQ(load.problem(), "Error loading r data: file is not a database; cannot parse fact file r.sqlite!");
}

TEST(sqlite_reader, errors_of_ten_rows_and_how_many_more) {
  sqlite_loading load({number, number});
  load.execute(
      "CREATE TABLE r (a, b); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
      "INSERT INTO r SELECT CASE i % 200 WHEN 0 THEN NULL ELSE i END, CASE i % 100 WHEN 0 THEN 3000000000 ELSE i END "
      "FROM n");
  const std::string shown = load.problem();
  EXPECT_TRUE(
      shown.starts_with("Error loading r data: Error converting <3000000000> in column 2 in row 100; cannot parse "
                        "fact file r.sqlite!\nError converting NULL in column 1 in row 200\n"))
      << shown;
  EXPECT_TRUE(shown.ends_with("in row 1000\n20 more\nNumbers have 32 bits here; with word_size=64 they have 64 bits"))
      << shown;
}

TEST(sqlite_reader, missing_file_may_be_empty) {
  sqlite_loading load({number});
  load.request.missing_is_empty = true;
  EXPECT_EQ(load.run(), 0U);
  EXPECT_EQ(load.folder.file_count(), 0U);
}

/// Relations that are written to a database and read from it.
struct sqlite_writing : sqlite_loading {
  sqlite_writing() : sqlite_loading({}) {
    target.output_directory = folder.path();
    target.parameters = {{"IO", "sqlite"}};
  }

  void write(const std::string& relation, std::vector<value_kind> kinds, const column_words& words) {
    relation_rows rows;
    rows.relation = relation;
    rows.kinds = std::move(kinds);
    for (std::size_t c = 0; c < rows.kinds.size(); ++c) rows.attribute_names.push_back("c" + std::to_string(c));
    for (const auto& column : words) rows.columns.push_back(column.data());
    rows.rows = words.empty() ? 1 : words[0].size();
    write_relation(rows, target, symbols, files);
  }

  column_words read(const std::string& relation, std::vector<value_kind> kinds) {
    request.relation = relation;
    request.kinds = std::move(kinds);
    rows_read = run();
    return columns;
  }

  /// What is wrong with writing a relation of one number.
  std::string refusal(const std::string& relation) {
    try {
      write(relation, {number}, {{1}});
    } catch (const std::runtime_error& failure) {
      return failure.what();
    }
    return "no error";
  }

  write_request target;
  output_files files;
  std::uint64_t rows_read = 0;
};

TEST(sqlite_writer, what_is_written_is_read) {
  sqlite_writing database;
  const word nul = database.symbols.intern(std::string("a\0b", 3));
  const word empty = database.symbols.intern("");
  const column_words words = {{0x80000000, 1},
                              {0xffffffff, 0},
                              {std::bit_cast<word>(0.1F), std::bit_cast<word>(std::numeric_limits<float>::infinity())},
                              {nul, empty}};
  database.write("r", {number, unsigned_number, floating, symbol}, words);
  EXPECT_FALSE(std::filesystem::exists(database.folder.path() / "r.sqlite"));
  database.files.commit();
  EXPECT_EQ(database.folder.file_count(), 1U);
  EXPECT_EQ(database.read("r", {number, unsigned_number, floating, symbol}), words);
}

TEST(sqlite_writer, not_a_number) {
  sqlite_writing database;
  database.write("r", {floating}, {{std::bit_cast<word>(std::numeric_limits<float>::quiet_NaN())}});
  database.files.commit();
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(database.read("r", {floating})[0][0])));
}

TEST(sqlite_writer, relations_share_a_database) {
  sqlite_writing database;
  const word a = database.symbols.intern("a");
  const word b = database.symbols.intern("b");
  database.target.parameters["dbname"] = "r.sqlite";
  database.write("p", {symbol}, {{a, b}});
  database.target.parameters["dbname"] = "./r.sqlite";
  database.write("q", {symbol, number}, {{b}, {1}});
  database.write("nullary", {}, {});
  database.files.commit();
  database.request.parameters["filename"] = "r.sqlite";
  EXPECT_EQ(database.read("p", {symbol}), (column_words{{a, b}}));
  EXPECT_EQ(database.read("q", {symbol, number}), (column_words{{b}, {1}}));
  EXPECT_TRUE(database.read("nullary", {}).empty());
  EXPECT_EQ(database.rows_read, 1U);
  EXPECT_EQ(database.folder.file_count(), 1U);
}

TEST(sqlite_writer, existing_database_is_extended) {
  sqlite_writing database;
  database.execute("PRAGMA journal_mode = WAL; CREATE TABLE other (a); INSERT INTO other VALUES (5)");
  database.target.parameters["filename"] = database.request.parameters["filename"] = "r.sqlite";
  for (const word value : {word{1}, word{2}}) {
    database.write("r", {number}, {{value}});
    database.files.commit();
    EXPECT_EQ(database.read("r", {number}), (column_words{{value}}));
    EXPECT_EQ(database.read("other", {number}), (column_words{{5}}));
  }
  EXPECT_EQ(database.folder.file_count(), 1U);
}

TEST(sqlite_writer, errors_leave_what_was_there) {
  sqlite_writing database;
  database.execute("CREATE TABLE r (a); INSERT INTO r VALUES (5)");
  database.target.parameters["filename"] = database.request.parameters["filename"] = "r.sqlite";
  const std::string before = database.folder.read("r.sqlite");
  EXPECT_EQ(database.refusal("r"), "Error writing r data: the database has a table r already");
  EXPECT_EQ(database.refusal("R"), "Error writing R data: SQLite does not tell R from r, which the database has");
  EXPECT_EQ(database.refusal("_SymbolTable"), "Error writing _SymbolTable data: __SymbolTable is the table of symbols");
  database.files.commit();
  EXPECT_EQ(database.folder.read("r.sqlite"), before);
  EXPECT_EQ(database.folder.file_count(), 1U);
  database.folder.write("r.sqlite", "this is a text and no database, though it is longer than a header");
  EXPECT_EQ(database.refusal("r"), "Cannot write output file r.sqlite: file is not a database");
  std::filesystem::create_directory(database.folder.path() / "folder");
  database.target.parameters["filename"] = "folder";
  EXPECT_EQ(database.refusal("r"), "Cannot write output file folder: not a regular file");
}

}  // namespace
}  // namespace gpulog::io
