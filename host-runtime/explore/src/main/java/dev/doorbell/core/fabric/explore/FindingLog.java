package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.explore.ExploringFabric.Finding;
import dev.doorbell.core.fabric.explore.model.Conflict;
import dev.doorbell.core.fabric.explore.model.Region;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.WqePrinter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The findings of a run, each pair of places once. */
final class FindingLog {
  private final AddressSpace memory;
  private final LongSupplier turns;
  private final Map<Object, Finding> findings = new LinkedHashMap<>();

  FindingLog(AddressSpace memory, LongSupplier turns) {
    this.memory = memory;
    this.turns = turns;
  }

  List<Finding> all() {
    return List.copyOf(findings.values());
  }

  int count() {
    return findings.size();
  }

  void found(Conflict conflict) {
    findings.computeIfAbsent(
        new Pair(conflict),
        pair ->
            new Finding(
                conflict,
                turns.getAsLong(),
                null,
                memory.describe(conflict.address(), conflict.bytes())));
  }

  /** Key by which two conflicts are the same: their kind and the places of both sides. */
  private record Pair(Conflict.Kind kind, Object earlier, Object later) {
    Pair(Conflict conflict) {
      this(conflict.kind(), side(conflict.earlier()), side(conflict.later()));
    }

    private static Object side(Conflict.Event event) {
      Object at = event.at();
      if (at instanceof DeviceAccess access) {
        at = access.region();
      }
      return at == null ? event.actor().who() : at;
    }
  }

  /** The device has read what the findings from {@code first} on are about. */
  void saw(int first, @Nullable Region region, long address, long copy, int bytes) {
    String text;
    if (region != null && region.role() == Region.Role.SEND_RING) {
      text = WqePrinter.line(copy);
    } else if (region != null) {
      text = "doorbell record " + DoorbellRecord.decode(RawMemory.getInt(copy));
    } else {
      StringBuilder hex = new StringBuilder("payload");
      for (int i = 0; i < Math.min(bytes, 16); i++) {
        hex.append(" %02x".formatted(RawMemory.getByte(copy + i)));
      }
      text = hex.append(bytes > 16 ? " .." : "").toString();
    }
    note(first, text);
  }

  void note(int first, String text) {
    findings.entrySet().stream()
        .skip(first)
        .forEach(
            each -> {
              Finding finding = each.getValue();
              each.setValue(
                  new Finding(finding.conflict(), finding.steps(), text, finding.memory()));
            });
  }
}
