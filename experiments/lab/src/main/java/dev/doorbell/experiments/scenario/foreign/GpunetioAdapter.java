package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.experiments.scenario.world.Endpoint;
import java.util.List;
import java.util.stream.Stream;

/**
 * GPUNetIO verbs: an array of {@code doca_gpu_dev_verbs_qp}, one for each queue pair, with its
 * completion queue inside.
 *
 * <p>The send counter of the doorbell record is the dword that the structure points to. The
 * completion ring has an entry for each block of the send ring, each invalid at first; every WQE is
 * signalled. Where the CPU rings, the handler is the library's CPU proxy: the structure points to
 * the counter that kernels raise instead of the register.
 */
final class GpunetioAdapter implements ApiAdapter {
  static final String QP = "doca_gpu_dev_verbs_qp";
  private static final String CQ = "doca_gpu_dev_verbs_cq";

  static final List<String> FIELDS =
      Stream.concat(
              Stream.of(
                      "sq_rsvd_index",
                      "sq_ready_index",
                      "sq_wqe_pi",
                      "sq_num",
                      "sq_num_shift8",
                      "sq_num_shift8_be",
                      "sq_num_shift8_be_1ds",
                      "sq_num_shift8_be_2ds",
                      "sq_num_shift8_be_3ds",
                      "sq_num_shift8_be_4ds",
                      "sq_num_shift8_be_5ds",
                      "sq_lock",
                      "sq_wqe_num",
                      "sq_wqe_mask",
                      "sq_wqe_daddr",
                      "sq_dbrec",
                      "sq_db",
                      "cq_sq",
                      "nic_handler",
                      "mem_type")
                  .map(field -> QP + "." + field),
              Stream.of(
                      "cqe_daddr",
                      "cq_num",
                      "cqe_num",
                      "dbrec",
                      "cqe_ci",
                      "cqe_mask",
                      "cqe_size",
                      "cqe_rsvd",
                      "mem_type")
                  .map(field -> CQ + "." + field))
          .toList();

  /** {@code sq_num_shift8_be_1ds} to {@code _5ds}: the second dword of a control segment. */
  private static final int MOST_SEGMENTS = 5;

  private static final int NUMBER_SHIFT = 8;

  /** {@code doca_gpu_dev_verbs_nic_handler}: kernels raise a counter, and the CPU rings. */
  private static final int HANDLER_CPU = 1;

  /** {@code doca_gpu_dev_verbs_nic_handler}: kernels ring a register of the HCA. */
  private static final int HANDLER_DOORBELL = 2;

  /** {@code doca_gpu_dev_verbs_mem_type}. */
  private static final int IN_HOST = 1;

  private static final int IN_GPU = 2;

  @Override
  public List<String> fields() {
    return FIELDS;
  }

  @Override
  public Memory install(ApiLayout layout, Site site) throws ApiLayoutException {
    StructImage all = StructImage.array(layout, QP, site.places());
    for (Endpoint endpoint : site.endpoints()) {
      fill(all.element(endpoint.index()), endpoint);
    }
    byte[] bytes = all.toBytes();
    Memory memory =
        site.owned()
            .add(
                site.rank()
                    .gpu()
                    .allocate(MemoryKind.DEVICE, bytes.length, "doca_gpu_dev_verbs_qp"));
    memory.putBytes(0, bytes);
    return memory;
  }

  /** Fills in a queue pair with its completion queue. */
  static void fill(StructImage image, Endpoint endpoint) throws ApiLayoutException {
    QueuePair queuePair = endpoint.queuePair();
    int blocks = queuePair.attributes().sendBlocks();
    int shifted = queuePair.number() << NUMBER_SHIFT;
    boolean byCpu = endpoint.ringRequest() != 0;
    image
        .set("sq_num", queuePair.number())
        .set("sq_num_shift8", Integer.toUnsignedLong(shifted))
        .setBigEndian("sq_num_shift8_be", shifted)
        .set("sq_wqe_num", blocks)
        .set("sq_wqe_mask", blocks - 1L)
        .set("sq_wqe_daddr", queuePair.sendRingAddress())
        .set("sq_dbrec", queuePair.recordAddress() + DoorbellRecord.SEND_OFFSET)
        .set("sq_db", byCpu ? endpoint.ringRequest() : endpoint.doorbell())
        .set("nic_handler", byCpu ? HANDLER_CPU : HANDLER_DOORBELL)
        .set("mem_type", memory(queuePair.attributes().ringIn()));
    for (int segments = 1; segments <= MOST_SEGMENTS; segments++) {
      image.setBigEndian("sq_num_shift8_be_%dds".formatted(segments), shifted | segments);
    }
    CompletionQueue completions = endpoint.completions();
    int entries = completions.attributes().entries();
    image
        .inner("cq_sq", CQ)
        .set("cqe_daddr", completions.ringAddress())
        .set("cq_num", completions.number())
        .set("cqe_num", entries)
        .set("cqe_mask", entries - 1L)
        .set("cqe_size", SendQueue.BLOCK)
        .set("dbrec", completions.recordAddress())
        .set("mem_type", memory(completions.attributes().ringIn()));
  }

  private static int memory(MemoryKind kind) {
    return kind == MemoryKind.HOST ? IN_HOST : IN_GPU;
  }
}
