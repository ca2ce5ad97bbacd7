#include "io/formats.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace gpulog::io {
namespace {

TEST(formats, have_names_of_their_own_and_do_something) {
  std::set<std::string_view> names;
  for (const format& one : formats()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(find_format(one.name), &one);
    EXPECT_TRUE(one.read != nullptr || one.write != nullptr) << one.name;
    EXPECT_TRUE(!one.prints || one.write != nullptr) << one.name;
  }
  EXPECT_TRUE(names.contains("file"));
}

TEST(formats, unknown_names_have_none) {
  EXPECT_EQ(find_format("tape"), nullptr);
  EXPECT_EQ(find_format(""), nullptr);
}

TEST(formats, what_is_printed_is_told_apart) {
  write_request request;
  for (const auto& [kind, prints] :
       {std::pair("file", false), std::pair("stdout", true), std::pair("json", true), std::pair("jsonfile", false),
        std::pair("stdoutprintsize", true), std::pair("sqlite", false), std::pair("tape", false)}) {
    request.parameters = {{"IO", kind}};
    EXPECT_EQ(prints_on_standard_output(request), prints) << kind;
  }
  request.output_directory = "-";
  EXPECT_TRUE(prints_on_standard_output(request));
}

}  // namespace
}  // namespace gpulog::io
