package dev.doorbell.interop.shim;

/** Shared receive queues of DEVX: CREATE_RMP, and MODIFY_RMP for the limit. */
final class DevxSharedReceives {
  static final int CREATE = 0x90c;
  static final int MODIFY = 0x90d;

  /** Of CREATE_RMP and MODIFY_RMP: the context, and the work queue in it. */
  private static final int CONTEXT = 0x20;

  private static final int QUEUE = CONTEXT + 0x30;
  private static final int READY = 1;
  private static final int LINKED_LIST = 0;
  private static final int MOST_SHIFT = 15;
  private static final int SMALLEST_STRIDE = 5;
  private static final int LARGEST_STRIDE = 10;

  private DevxSharedReceives() {}

  static Resource.Srq create(Context context, Prm in) throws Refusal, NeedsPages {
    int entries = in.get(QUEUE + 0x20, 4, 0);
    int stride = in.get(QUEUE + 0x20, 19, 16);
    int pdNumber = in.get(QUEUE + 0x8, 23, 0);
    Resource.Pd pd = context.search(Resource.Pd.class, one -> one.number == pdNumber);
    if (pd == null) {
      throw new Refusal(Errno.ENOENT);
    }
    int limit = in.get(QUEUE + 0x4, 15, 0);
    if (in.get(CONTEXT, 23, 20) != READY
        || in.get(QUEUE, 31, 28) != LINKED_LIST
        || limit > 1 << entries
        || entries > MOST_SHIFT
        || stride < SMALLEST_STRIDE
        || stride > LARGEST_STRIDE) {
      throw new Refusal(Errno.EINVAL);
    }
    long ring =
        DevxCommands.at(
            context, in.get(QUEUE + 0x2c), in.get64(QUEUE + 0x30), 1L << (entries + stride));
    long record =
        DevxCommands.at(context, in.get(QUEUE + 0x28), in.get64(QUEUE + 0x10), Long.BYTES);
    Resource.Srq srq =
        QueueCommands.createSrq(
            context,
            pd,
            new QueueCommands.SrqShape(ring, record, 1 << entries, 1 << stride),
            Resource.DEVX);
    srq.queue.armLimit(limit);
    return srq;
  }

  static void modify(Resource.Srq srq, Prm in) throws Refusal {
    boolean limit = in.get(0x14, 0, 0) != 0;
    if (in.get(CONTEXT, 23, 20) != READY || !limit) {
      throw new Refusal(Errno.EINVAL);
    }
    srq.queue.armLimit(in.get(QUEUE + 0x4, 15, 0));
  }
}
