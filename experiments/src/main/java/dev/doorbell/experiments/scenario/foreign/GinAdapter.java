package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.scenario.world.Endpoint;
import java.util.List;
import java.util.stream.Stream;

/**
 * NCCL's GIN over its back end GDAKI: an array of {@code ncclGinGdakiGPUContext}, one for each
 * queue pair that leads to a peer, each with a queue pair of GPUNetIO for each rank. Behind the
 * last context lies the handle of a window, with the lkey of the payload and the rkeys of all
 * inboxes; offsets in that window are addresses.
 *
 * <p>There are no companion queue pairs and no tables of signals and counters: their regions begin
 * at address zero, which registered memory here does not.
 */
final class GinAdapter implements ApiAdapter {
  private static final String CONTEXT = "ncclGinGdakiGPUContext";
  private static final String WINDOW = "ncclGinGdakiMemHandle";

  @Override
  public List<String> fields() {
    return Stream.of(
            GpunetioAdapter.FIELDS.stream(),
            Stream.of(
                    "gdqp",
                    "companion_gdqp",
                    "counters_table",
                    "signals_table",
                    "sink_buffer_lkey",
                    "last_issued_get",
                    "last_visible_get")
                .map(field -> CONTEXT + "." + field),
            Stream.of("rkeys", "lkey").map(field -> WINDOW + "." + field))
        .flatMap(names -> names)
        .toList();
  }

  @Override
  public Memory install(ApiLayout layout, Site site) throws ApiLayoutException {
    int ranks = site.targets().size();
    int contexts = site.endpoints().size() / (ranks - 1);
    int qpBytes = layout.place(GpunetioAdapter.QP).bytes();
    StructImage qps = StructImage.array(layout, GpunetioAdapter.QP, ranks * contexts);
    int[] turns = new int[ranks];
    for (Endpoint endpoint : site.endpoints()) {
      int peer = site.peer(endpoint);
      GpunetioAdapter.fill(qps.element(turns[peer]++ * ranks + peer), endpoint);
    }
    Memory queuePairs = stored(site, qps.toBytes(), "queue pairs of the contexts");
    Memory gets = allocate(site, 2L * ranks * Long.BYTES, "gets of each peer");

    StructImage all = StructImage.array(layout, CONTEXT, contexts);
    for (int i = 0; i < contexts; i++) {
      all.element(i)
          .set("gdqp", queuePairs.address() + (long) i * ranks * qpBytes)
          .set("last_issued_get", gets.address())
          .set("last_visible_get", gets.address() + (long) ranks * Long.BYTES);
    }
    byte[] contextBytes = all.toBytes();
    byte[] window = window(layout, site);
    Memory memory = allocate(site, contextBytes.length + (long) window.length, CONTEXT);
    memory.putBytes(0, contextBytes);
    memory.putBytes(contextBytes.length, window);
    return memory;
  }

  /** The handle of the window, whose keys lie in memory of their own. */
  private static byte[] window(ApiLayout layout, Site site) throws ApiLayoutException {
    int ranks = site.targets().size();
    Memory keys = allocate(site, (long) ranks * Integer.BYTES, "rkeys of the window");
    for (int rank = 0; rank < ranks; rank++) {
      keys.putBytes(
          (long) rank * Integer.BYTES, StructImage.bigEndian(site.targets().get(rank).key()));
    }
    return StructImage.array(layout, WINDOW, 1)
        .set("rkeys", keys.address())
        .setBigEndian("lkey", site.local().key())
        .toBytes();
  }

  private static Memory stored(Site site, byte[] bytes, String label) {
    Memory memory = allocate(site, bytes.length, label);
    memory.putBytes(0, bytes);
    return memory;
  }

  private static Memory allocate(Site site, long bytes, String label) {
    return site.owned().add(site.rank().gpu().allocate(MemoryKind.DEVICE, bytes, label));
  }
}
