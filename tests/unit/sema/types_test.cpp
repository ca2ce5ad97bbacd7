#include "sema/types/types.hpp"

#include <gtest/gtest.h>

namespace gpulog::sema {
namespace {

class types_test : public testing::Test {
 protected:
  type_id subtype(const std::string& name, type_id base) {
    return types.add({name, type_form::subtype, types.kind(base), base, {}});
  }
  type_id union_of(const std::string& name, std::vector<type_id> elements) {
    return types.add({name, type_form::union_of, types.kind(elements.front()), {}, std::move(elements)});
  }

  type_environment types;
  type_id number = types.find("number").value();
  type_id symbol = types.find("symbol").value();
  type_id id = subtype("Id", number);
  type_id user = subtype("User", id);
  type_id bot = subtype("Bot", id);
  type_id actor = union_of("Actor", {user, bot});
};

TEST_F(types_test, subtypes_are_transitive_and_stop_at_the_kind) {
  EXPECT_TRUE(types.is_subtype(user, id));
  EXPECT_TRUE(types.is_subtype(user, number));
  EXPECT_TRUE(types.is_subtype(user, types.of_kind(value_kind::number)));
  EXPECT_FALSE(types.is_subtype(id, user));
  EXPECT_FALSE(types.is_subtype(user, bot));
  EXPECT_FALSE(types.is_subtype(number, symbol));
}

TEST_F(types_test, unions_lie_above_their_elements_and_below_what_all_elements_lie_below) {
  EXPECT_TRUE(types.is_subtype(user, actor));
  EXPECT_FALSE(types.is_subtype(actor, user));
  EXPECT_TRUE(types.is_subtype(actor, id));
  EXPECT_FALSE(types.is_subtype(id, actor));
}

TEST_F(types_test, common_subtypes) {
  EXPECT_EQ(types.greatest_common_subtypes(user, id), std::set<type_id>{user});
  EXPECT_TRUE(types.greatest_common_subtypes(user, bot).empty());
  const type_id admin = subtype("Admin", number);
  const type_id staff = union_of("Staff", {bot, admin});
  EXPECT_EQ(types.greatest_common_subtypes(actor, staff), std::set<type_id>{bot});
}

TEST_F(types_test, meet_of_sets) {
  EXPECT_TRUE(types.meet(type_set(), type_set()).is_all());
  EXPECT_EQ(types.meet(type_set(), type_set({user})), type_set({user}));
  EXPECT_TRUE(types.meet(type_set({user}), type_set({bot})).empty());
  EXPECT_EQ(types.text(type_set({user})), "User");
}

TEST_F(types_test, an_alias_is_the_same_type) {
  types.add_alias("Identity", id);
  EXPECT_EQ(types.find("Identity"), id);
}

}  // namespace
}  // namespace gpulog::sema
