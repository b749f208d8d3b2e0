package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import java.util.Set;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** The rkey of memory whose bytes are named by their offsets: registered when it is asked for. */
public final class ZeroBased implements IntSupplier {
  private final Rank rank;
  private final Memory memory;
  private final Set<AccessRight> rights;
  private final Owned owned;
  private @Nullable MemoryRegion region;

  /**
   * A key of {@code memory}.
   *
   * @param owned closes the region
   */
  public ZeroBased(Rank rank, Memory memory, Set<AccessRight> rights, Owned owned) {
    this.rank = rank;
    this.memory = memory;
    this.rights = Set.copyOf(rights);
    this.owned = owned;
  }

  @Override
  public int getAsInt() {
    MemoryRegion known = region;
    if (known == null) {
      known = owned.add(rank.domain().registerFromZero(memory, rights));
      region = known;
    }
    return known.rkey();
  }
}
