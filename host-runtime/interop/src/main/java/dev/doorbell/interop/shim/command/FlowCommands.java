package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import dev.doorbell.softhca.steering.FrameFields;
import dev.doorbell.softhca.steering.FrameFields.FlowMatch;
import java.util.Arrays;
import java.util.List;

/**
 * Steering rules, by which queue pairs receive Ethernet frames: those of verbs ({@code
 * ibv_create_flow}), and those of libmlx5 for a matcher ({@code mlx5dv_create_flow}).
 */
final class FlowCommands {
  /** Behind all priorities that programs can name. */
  private static final int DEFAULT_PRIORITY = 1 << 16;

  /** {@code MLX5_MATCH_OUTER_HEADERS}. */
  private static final int OUTER_HEADERS = 1;

  private FlowCommands() {}

  /** {@code struct ib_uverbs_create_flow}. */
  static void create(IoctlCommand command) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, UverbsAbi.CREATE_FLOW_FIRST);
    DeviceCommands.requirePort(in.u8(UverbsAbi.CREATE_FLOW_PORT));
    ErrnoException.require(in.u32(0) == 0, Errno.EINVAL);
    ErrnoException.require(in.u32(UverbsAbi.CREATE_FLOW_FLAGS) == 0, Errno.EOPNOTSUPP);
    FlowFields fields = new FlowFields();
    int at = UverbsAbi.CREATE_FLOW_FIRST;
    for (int i = 0; i < in.u8(UverbsAbi.CREATE_FLOW_SPECIFICATIONS); i++) {
      at += fields.add(in, at);
    }
    int priority =
        switch (in.u32(UverbsAbi.CREATE_FLOW_TYPE)) {
          case UverbsAbi.FLOW_TYPE_NORMAL -> in.u16(UverbsAbi.CREATE_FLOW_PRIORITY);
          case UverbsAbi.FLOW_TYPE_MULTICAST_DEFAULT -> {
            ErrnoException.require(at == UverbsAbi.CREATE_FLOW_FIRST, Errno.EINVAL);
            fields.anyMulticast();
            yield DEFAULT_PRIORITY;
          }
          case UverbsAbi.FLOW_TYPE_ALL_DEFAULT -> {
            ErrnoException.require(at == UverbsAbi.CREATE_FLOW_FIRST, Errno.EINVAL);
            yield DEFAULT_PRIORITY + 1;
          }
          default -> throw new ErrnoException(Errno.EOPNOTSUPP);
        };
    int handle = add(command, in.u32(UverbsAbi.CREATE_FLOW_QUEUE_PAIR), fields.match(), priority);
    command.out(UverbsAbi.CORE_OUT, new Struct(8).u32(4, handle));
  }

  private static int add(IoctlCommand command, int queuePair, FlowMatch match, int priority)
      throws ErrnoException {
    Resource.Queue to = command.context().find(Resource.Queue.class, queuePair);
    Runnable end =
        switch (to) {
          case Resource.Qp qp -> SoftQueuePair.steer(List.of(qp.queuePair), null, match, priority);
          case Resource.Spread spread ->
              SoftQueuePair.steer(spread.queuePairs(), spread.hash(), match, priority);
          default -> throw new ErrnoException(Errno.EINVAL);
        };
    return command.add(new Resource.Flow(to, end));
  }

  /** Serves those fields of a matcher that belong to the outer headers. */
  static void createMatcher(IoctlCommand command) throws ErrnoException {
    int criteria = command.in(UverbsAbi.FLOW_MATCHER_CRITERIA, 1).u8(0);
    ErrnoException.require(
        (criteria & ~OUTER_HEADERS) == 0
            && command.in32(UverbsAbi.FLOW_MATCHER_FLAGS, 0) == 0
            && command.in32(UverbsAbi.FLOW_MATCHER_TABLE, 0) == 0
            && command.choice(UverbsAbi.FLOW_MATCHER_TYPE, UverbsAbi.FLOW_TYPE_NORMAL)
                == UverbsAbi.FLOW_TYPE_NORMAL,
        Errno.EOPNOTSUPP);
    int priority = command.in(UverbsAbi.FLOW_MATCHER_TYPE, Short.BYTES).u16(0);
    byte[] mask = fields(command, UverbsAbi.FLOW_MATCHER_MASK);
    command.outHandle(
        UverbsAbi.FLOW_MATCHER_HANDLE, command.add(new Resource.Matcher(mask, priority)));
  }

  static void createForMatcher(IoctlCommand command) throws ErrnoException {
    Resource.Matcher matcher = command.find(UverbsAbi.FLOW_MATCHER, Resource.Matcher.class);
    ErrnoException.require(command.has(UverbsAbi.FLOW_QUEUE_PAIR), Errno.EOPNOTSUPP);
    FlowMatch match = new FlowMatch(fields(command, UverbsAbi.FLOW_VALUE), matcher.mask());
    int queuePair = command.handle(UverbsAbi.FLOW_QUEUE_PAIR);
    command.outHandle(UverbsAbi.FLOW_HANDLE, add(command, queuePair, match, matcher.priority()));
  }

  /** {@code fte_match_param}, whose first structure is that of the outer headers. */
  private static byte[] fields(IoctlCommand command, int attribute) throws ErrnoException {
    byte[] all = command.in(attribute, 1).content();
    for (int i = FrameFields.BYTES; i < all.length; i++) {
      ErrnoException.require(all[i] == 0, Errno.EOPNOTSUPP);
    }
    return Arrays.copyOf(all, FrameFields.BYTES);
  }
}
