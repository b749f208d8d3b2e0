package dev.doorbell.interop.shim.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.object.ClientContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A matcher is refused for each of its parts that is not served, and for that part alone. */
class FlowCommandsTest {
  private static final int EINVAL = 22;
  private static final int EOPNOTSUPP = 95;
  private static final int DRIVER_MLX5 = 1;

  /** Returns the error of a matcher; a sound one fails later, at the mask that it lacks. */
  private static int error(int criteria, int flags, int table, int type) throws ErrnoException {
    Struct bytes = new Struct(IoctlCommand.HEAD_BYTES + 4 * 16);
    bytes.u16(6, 4).u32(16, DRIVER_MLX5);
    attribute(bytes, 0, UverbsAbi.FLOW_MATCHER_CRITERIA, 1, criteria);
    attribute(bytes, 1, UverbsAbi.FLOW_MATCHER_FLAGS, Integer.BYTES, flags);
    attribute(bytes, 2, UverbsAbi.FLOW_MATCHER_TABLE, Integer.BYTES, table);
    attribute(bytes, 3, UverbsAbi.FLOW_MATCHER_TYPE, Short.BYTES, 0);
    bytes.content()[IoctlCommand.HEAD_BYTES + 3 * 16 + 6] = (byte) type;
    IoctlCommand command = new IoctlCommand(noContext(), 0, bytes.content());
    return catchThrowableOfType(ErrnoException.class, () -> FlowCommands.createMatcher(command))
        .errno();
  }

  private static void attribute(Struct bytes, int index, int id, int length, int value) {
    int at = IoctlCommand.HEAD_BYTES + index * 16;
    bytes.u16(at, id).u16(at + 2, length).u64(at + 8, value);
  }

  /** No part that these commands reach asks for the program. */
  @SuppressWarnings("NullAway")
  private static ClientContext noContext() {
    return null;
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 0, 0, 22",
    "1, 0, 0, 0, 22",
    "2, 0, 0, 0, 95",
    "3, 0, 0, 0, 95",
    "1, 1, 0, 0, 95",
    "1, 0, 1, 0, 95",
    "1, 0, 0, 1, 95",
    "2, 1, 1, 1, 95"
  })
  void what_is_not_served_of_a_matcher_is_refused(
      int criteria, int flags, int table, int type, int errno) throws ErrnoException {
    assertThat(errno).isIn(EINVAL, EOPNOTSUPP);
    assertThat(error(criteria, flags, table, type)).isEqualTo(errno);
  }
}
