#include "shiplap/profile/enum_names.hpp"

#include <gtest/gtest.h>

#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

TEST(EnumNames, are_those_of_enumerators_that_exist) {
  EXPECT_EQ(name_of(Origin::planted), "planted");
  const std::string none = "a profile holds an enumerator without a name";
  EXPECT_EQ(message_of([] { name_of(static_cast<Origin>(99)); }), none);
  EXPECT_EQ(message_of([] { name_of(static_cast<ImplicitSync>(99)); }), none);
  EXPECT_EQ(message_of([] { name_of(static_cast<EngineOrder>(99)); }), none);
}

}  // namespace
}  // namespace shiplap
