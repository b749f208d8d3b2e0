package dev.doorbell.softhca.queuepair;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.objects.NumberTable;
import dev.doorbell.softhca.objects.OnChipSpace;
import dev.doorbell.softhca.objects.RegionTable;
import dev.doorbell.softhca.objects.SoftCompletionQueue;
import dev.doorbell.softhca.objects.SoftSharedReceiveQueue;
import dev.doorbell.softhca.objects.Uar;
import dev.doorbell.softhca.queuepair.HcaEngine.ScheduledQueuePair;

/** The objects of one HCA, by number, and the engine that runs its queue pairs. */
public final class HcaObjects {
  private static final int FIRST_NUMBER = 0x100;

  public final HcaServices hca;
  public final HcaEngine engine;
  public final OnChipSpace onChip;
  public final NumberTable<ScheduledQueuePair> queuePairs;
  public final NumberTable<SoftCompletionQueue> completionQueues;
  public final NumberTable<SoftSharedReceiveQueue> sharedReceiveQueues;

  public final RegionTable regions;

  private final String name;
  private final int limit;
  private int queuePairsCreated;

  public HcaObjects(HcaServices hca, String name, Fabric fabric, SoftHcaOptions options) {
    this.hca = hca;
    this.name = name;
    this.limit = options.limits().queuePairs();
    this.regions = new RegionTable(options.randomNumbers());
    this.onChip = new OnChipSpace(hca, options.limits().onChipBytes());
    this.queuePairs = new NumberTable<>(FIRST_NUMBER, limit);
    this.completionQueues = new NumberTable<>(FIRST_NUMBER, 2 * limit);
    this.sharedReceiveQueues = new NumberTable<>(FIRST_NUMBER, limit);
    this.engine = new HcaEngine(name, fabric, queuePairs, options.engine().packets());
  }

  /** The ordinal of a new queue pair. */
  public int nextOrdinal() {
    return queuePairsCreated++;
  }

  /**
   * Reserves a number.
   *
   * @param what for the message
   * @throws HcaException when there is none left
   */
  public int reserve(NumberTable<?> table, String what) {
    int number = table.reserve();
    if (number < 0) {
      throw new HcaException(
          "%s has no %s left (the limit is %d); close some first".formatted(name, what, limit),
          Errno.ENOMEM);
    }
    return number;
  }

  /** A doorbell page with BlueFlame halves of {@code bytes}. */
  public Uar newUar(Allocation page, int blueFlameBytes) {
    return new Uar(queuePairs, completionQueues, page, blueFlameBytes);
  }
}
