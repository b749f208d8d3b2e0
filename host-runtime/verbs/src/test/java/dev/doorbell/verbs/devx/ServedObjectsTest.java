package dev.doorbell.verbs.devx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.QueuePairCommand;
import dev.doorbell.core.mlx5.prm.Umem;
import dev.doorbell.core.mlx5.prm.generated.CommandHeader;
import dev.doorbell.core.mlx5.prm.generated.DcTargetContext;
import dev.doorbell.core.mlx5.prm.generated.QueuePairContext;
import dev.doorbell.core.mlx5.prm.generated.SharedReceiveContext;
import dev.doorbell.verbs.Mlx5Hca;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.library.VerbsProbe;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Objects that firmware makes by DEVX commands for programs, and that our own HCA does not take.
 */
public class ServedObjectsTest {
  private static final long KEY = 0x1122_3344_5566_7788L;
  private static final int QUEUE_KEY = 0x1234_5678;
  private static final int COMMAND_BYTES = 272;
  private static final int ENTRIES = 16;
  private static final int MTU_4096 = 5;

  private final DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 28), 0);
  private final MemoryProvider memory = FabricMemory.of(fabric.memory(), 0);
  private Mlx5Hca hca;
  private DevxDomain domain;
  private CompletionQueue completions;
  private int domainNumber;

  @BeforeEach
  void open() {
    Probe probe = VerbsProbe.probeMlx5();
    assumeTrue(probe instanceof Probe.Ready, probe.describe());
    hca = new Mlx5Hca(fabric, Locus.nic(0, 0), DeviceFilter.ALL, -1, memory);
    domain = (DevxDomain) hca.allocateProtectionDomain();
    completions =
        domain.createCompletionQueue(
            CompletionQueueAttributes.ring(ENTRIES, MemoryKind.HOST), memory);
    domainNumber = Mlx5Objects.domainNumber(domain.pd);
  }

  @AfterEach
  void close() {
    if (hca != null) {
      hca.close();
    }
    fabric.close();
  }

  private FirmwareMemory umem(long bytes) {
    return FirmwareMemory.of(
        domain.context, memory.allocate(MemoryKind.HOST, bytes, "memory of a test"));
  }

  private DevxObject create(String what, PrmBuffer command) {
    return DevxObject.create(domain.context, what, command, PrmBuffer.HEADER_BYTES);
  }

  private static PrmBuffer command(int bytes, int opcode) {
    return new PrmBuffer(bytes).put(CommandHeader.OPCODE, opcode);
  }

  private static PrmBuffer command(int bytes, int opcode, DevxObject of) {
    return command(bytes, opcode).put(CommandHeader.NUMBER, of.number());
  }

  /** A queue of {@value #ENTRIES} receives of 64 bytes each. */
  private DevxObject sharedReceives(FirmwareMemory ring, FirmwareMemory record) {
    return create(
        "a shared receive queue",
        command(COMMAND_BYTES, CommandHeader.CREATE_RMP)
            .put(SharedReceiveContext.STATE, SharedReceiveContext.READY)
            .put(SharedReceiveContext.PD, domainNumber)
            .put(SharedReceiveContext.LOG_WQ_STRIDE, 6)
            .put(SharedReceiveContext.LOG_WQ_SIZE, 4)
            .put(SharedReceiveContext.DBR_UMEM_VALID, true)
            .put(SharedReceiveContext.DBR_UMEM_ID, record.start().id())
            .put(SharedReceiveContext.WQ_UMEM_VALID, true)
            .put(SharedReceiveContext.WQ_UMEM_ID, ring.start().id()));
  }

  private static void limit(DevxObject receives, int limit) {
    receives.modify(
        "set the limit",
        command(COMMAND_BYTES, CommandHeader.MODIFY_RMP, receives)
            .put(SharedReceiveContext.CURRENT_STATE, SharedReceiveContext.READY)
            .put(SharedReceiveContext.MODIFY_LWM, true)
            .put(SharedReceiveContext.STATE, SharedReceiveContext.READY)
            .put(SharedReceiveContext.LWM, limit),
        PrmBuffer.HEADER_BYTES);
  }

  @Test
  void a_shared_receive_queue_takes_a_limit_that_it_can_have() {
    try (FirmwareMemory ring = umem(64L * ENTRIES);
        FirmwareMemory record = umem(8);
        DevxObject receives = sharedReceives(ring, record)) {
      limit(receives, ENTRIES);
      limit(receives, 0);
      assertThatThrownBy(() -> limit(receives, ENTRIES + 1))
          .isInstanceOf(HcaException.class)
          .hasMessageContaining("bad parameter");
    }
  }

  private static PrmBuffer query(DevxObject target) {
    return target.query(
        "query a DC target",
        command(PrmBuffer.HEADER_BYTES, CommandHeader.QUERY_DCT, target),
        DcTargetContext.ANSWER_BYTES);
  }

  @Test
  void a_dc_target_answers_what_it_was_created_with_and_drains() {
    try (FirmwareMemory ring = umem(64L * ENTRIES);
        FirmwareMemory record = umem(8);
        DevxObject receives = sharedReceives(ring, record);
        DevxObject target =
            create(
                "a DC target",
                command(DcTargetContext.BYTES, CommandHeader.CREATE_DCT)
                    .put(DcTargetContext.PD, domainNumber)
                    .put(DcTargetContext.SRQN, receives.number())
                    .put(DcTargetContext.CQN, completions.number())
                    .putLong(DcTargetContext.ACCESS_KEY_OFFSET, KEY)
                    .put(DcTargetContext.MTU, MTU_4096)
                    .put(DcTargetContext.MIN_RNR_NAK, 12)
                    .put(DcTargetContext.RWE, true)
                    .put(DcTargetContext.PORT, 1)
                    .put(DcTargetContext.HOP_LIMIT, DevxQueuePair.HOP_LIMIT))) {
      PrmBuffer answer = query(target);
      assertThat(answer.get(DcTargetContext.STATE)).isEqualTo(DcTargetContext.ACTIVE);
      assertThat(answer.get(DcTargetContext.SRQN)).isEqualTo(receives.number());
      assertThat(answer.get(DcTargetContext.CQN)).isEqualTo(completions.number());
      assertThat(answer.getLong(DcTargetContext.ACCESS_KEY_OFFSET)).isEqualTo(KEY);
      assertThat(answer.isSet(DcTargetContext.RWE)).isTrue();
      assertThat(answer.isSet(DcTargetContext.RRE)).isFalse();
      assertThat(answer.get(DcTargetContext.MIN_RNR_NAK)).isEqualTo(12);
      assertThat(answer.get(DcTargetContext.KEY_VIOLATIONS)).isZero();
      target.modify(
          "drain",
          command(PrmBuffer.HEADER_BYTES, CommandHeader.DRAIN_DCT, target),
          PrmBuffer.HEADER_BYTES);
      assertThat(query(target).get(DcTargetContext.STATE)).isEqualTo(DcTargetContext.DRAINING);
    }
  }

  @Test
  void queue_pairs_for_datagrams_and_initiators_come_to_rts() {
    Allocation standIn =
        fabric.memory().allocate(MemoryKind.UAR, Locus.nic(0, 0), Doorbell.UAR_BYTES, "page");
    try (DoorbellPage page = DoorbellPage.open(domain.context, standIn)) {
      for (int service : new int[] {QueuePairContext.UD, QueuePairContext.DCI}) {
        try (FirmwareMemory rings = umem(64 * 64);
            FirmwareMemory record = umem(8);
            DevxObject made = queuePair(service, page, rings.start(), record.start())) {
          bringToRts(made, service);
          PrmBuffer answer =
              made.query(
                  "query",
                  QueuePairCommand.query(made.number()),
                  QueuePairCommand.QUERY_ANSWER_BYTES);
          assertThat(QueuePairCommand.state(answer)).as("of service %d", service).isEqualTo(3);
        }
      }
    }
  }

  private DevxObject queuePair(int service, DoorbellPage page, Umem rings, Umem record) {
    int number = completions.number();
    return create(
        "a queue pair of service type " + service,
        QueuePairCommand.create(
                new QueuePairCommand.Shape(
                    domainNumber, page.number(), 6, -1, number, number, rings, record))
            .put(QueuePairContext.SERVICE_TYPE, service));
  }

  private static void bringToRts(DevxObject made, int service) {
    PrmBuffer toRtr =
        command(COMMAND_BYTES, CommandHeader.INIT2RTR_QP, made)
            .put(QueuePairContext.MTU, MTU_4096)
            .put(QueuePairContext.PORT_NUM, 1);
    if (service == QueuePairContext.UD) {
      toRtr
          .put(QueuePairContext.OPT_PARAM_MASK, QueuePairContext.OPTPAR_Q_KEY)
          .put(QueuePairContext.Q_KEY, QUEUE_KEY);
    }
    PrmBuffer toRts = command(COMMAND_BYTES, CommandHeader.RTR2RTS_QP, made);
    for (PrmBuffer each :
        new PrmBuffer[] {
          QueuePairCommand.toInit(made.number(), 1, false, false, false),
          toRtr,
          toRts.put(QueuePairContext.NEXT_SEND_PSN, 7)
        }) {
      made.modify("bring it on", each, PrmBuffer.HEADER_BYTES);
    }
  }
}
