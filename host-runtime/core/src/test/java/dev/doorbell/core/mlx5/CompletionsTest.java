package dev.doorbell.core.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.NativeBytes;
import dev.doorbell.core.Pause;
import dev.doorbell.core.memory.RawMemory;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CQEs: ownership, fields, errors. */
class CompletionsTest {

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 64})
  void no_entry_of_a_fresh_ring_looks_complete_in_any_lap(int entries) {
    try (NativeBytes ring = new NativeBytes((long) entries * Cqe.BYTES)) {
      Cqe.fillInitial(ring.address(), entries);
      for (long index = 0; index < 4L * entries; index++) {
        long entry = Cqe.entryAddress(ring.address(), entries, index);
        assertThat(Cqe.isOwnedBySoftware(entry, index, entries)).isFalse();
      }
    }
  }

  @Test
  void exactly_the_entries_between_consumer_and_producer_are_owned() {
    long seed = 42;
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 50; round++) {
      int entries = 1 << random.nextInt(7);
      long produced = 0;
      long consumed = 0;
      try (NativeBytes ring = new NativeBytes((long) entries * Cqe.BYTES)) {
        Cqe.fillInitial(ring.address(), entries);
        for (int step = 0; step < 400; step++) {
          if (produced - consumed < entries && random.nextBoolean()) {
            Cqe.writeRequester(
                Cqe.entryAddress(ring.address(), entries, produced),
                Opcode.RDMA_WRITE,
                5,
                (int) produced,
                8,
                produced,
                Cqe.ownerFor(produced, entries));
            produced++;
          }
          long entry = Cqe.entryAddress(ring.address(), entries, consumed);
          String context =
              "seed %d round %d step %d entries %d".formatted(seed, round, step, entries);
          assertThat(Cqe.isOwnedBySoftware(entry, consumed, entries))
              .as(context)
              .isEqualTo(consumed < produced);
          if (consumed < produced && random.nextBoolean()) {
            assertThat(Cqe.wqeCounter(entry)).as(context).isEqualTo((int) consumed & 0xffff);
            assertThat(Cqe.timestamp(entry)).as(context).isEqualTo(consumed);
            consumed++;
          }
        }
        assertThat(produced).as("seed " + seed).isGreaterThan(2);
      }
    }
  }

  @Test
  void every_field_of_a_requesters_cqe_comes_back() {
    try (NativeBytes cqe = new NativeBytes(Cqe.BYTES)) {
      Cqe.fillInitial(cqe.address(), 1);
      Cqe.writeRequester(
          cqe.address(), Opcode.ATOMIC_FA, 0xff_fffe, 0xabcd, -1, 0x0123_4567_89ab_cdefL, 1);
      assertThat(cqe.hex())
          .isEqualTo("00".repeat(0x2c) + "ffffffff" + "0123456789abcdef" + "12fffffe" + "abcd0001");
      assertThat(Cqe.sopDropQpn(cqe.address())).isEqualTo(0x12ff_fffe);
      assertThat(Cqe.owner(cqe.address())).isEqualTo(1);
    }
  }

  @Test
  void every_field_of_a_responders_cqe_comes_back() {
    try (NativeBytes cqe = new NativeBytes(Cqe.BYTES)) {
      Cqe.fillInitial(cqe.address(), 1);
      Cqe.writeResponder(
          cqe.address(),
          Cqe.RESPONDER_SEND_INVAL,
          0x1234,
          0x9999,
          0x1_0002,
          77,
          0xdead_beef,
          true,
          1,
          1);
      assertThat(cqe.hex())
          .isEqualTo(
              "00".repeat(0x20)
                  + "00009999"
                  + "deadbeef"
                  + "00000000"
                  + "0000004d"
                  + "0000000000000001"
                  + "00001234"
                  + "00020043");
      assertThat(Cqe.isSolicited(cqe.address())).isTrue();
      assertThat(Cqe.opcode(cqe.address())).isEqualTo(Cqe.RESPONDER_SEND_INVAL);
      assertThat(Cqe.immediate(cqe.address())).isEqualTo(0xdead_beef);
    }
  }

  @Test
  void every_field_of_an_error_cqe_comes_back() {
    try (NativeBytes cqe = new NativeBytes(Cqe.BYTES)) {
      Cqe.fillInitial(cqe.address(), 1);
      ErrorCqe.write(
          cqe.address(),
          Cqe.RESPONDER_ERROR,
          Syndrome.LOCAL_ACCESS,
          Syndrome.VENDOR_ODP_PAGE_FAULT,
          Opcode.SEND,
          0x8007,
          3,
          0);
      assertThat(cqe.hex()).isEqualTo("00".repeat(0x34) + "00009311" + "0a008007" + "000300e0");
      assertThat(ErrorCqe.syndrome(cqe.address())).isEqualTo(Syndrome.LOCAL_ACCESS);
      assertThat(ErrorCqe.vendorSyndrome(cqe.address())).isEqualTo(Syndrome.VENDOR_ODP_PAGE_FAULT);
      assertThat(ErrorCqe.hardwareSyndrome(cqe.address())).isZero();
      assertThat(ErrorCqe.hardwareSyndromeType(cqe.address())).isZero();
      assertThat(ErrorCqe.qpn(cqe.address())).isEqualTo(0x8007);
      assertThat(ErrorCqe.wqeOpcode(cqe.address())).isEqualTo(Opcode.SEND);
      assertThat(ErrorCqe.wqeCounter(cqe.address())).isEqualTo(3);
      assertThat(Cqe.isError(Cqe.opcode(cqe.address()))).isTrue();
    }
  }

  @Test
  void fields_that_only_hardware_fills_are_read_where_they_are() {
    String words = "00".repeat(0x16) + "abcd" + "1f123456";
    try (NativeBytes cqe = NativeBytes.ofHex(words + "00".repeat(Cqe.BYTES - 0x1c))) {
      assertThat(Cqe.remoteQpn(cqe.address())).isEqualTo(0x12_3456);
      RawMemory.putByte(cqe.address() + Cqe.OP_OWN_OFFSET, (byte) 0x28);
      assertThat(Cqe.format(cqe.address())).isEqualTo(2);
      assertThat(Cqe.opcode(cqe.address())).isEqualTo(Cqe.RESPONDER_SEND);
      assertThat(Cqe.packetType(cqe.address())).isEqualTo(3);
      Cqe.putSender(cqe.address(), Cqe.sender(0x12_3456, true));
      assertThat(cqe.hex()).startsWith("00".repeat(0x16) + "abcd" + "12123456");
      Cqe.putSender(cqe.address(), Cqe.sender(0x12_3456, false));
      assertThat(cqe.hex()).startsWith("00".repeat(0x16) + "abcd" + "11123456");
    }
  }

  /** A CQE is 64 bytes in one write of the HCA; a poller must never see a part of one. */
  @Test
  void a_poller_that_sees_the_owner_bit_sees_the_rest() throws InterruptedException {
    int entries = 8;
    int rounds = 50_000;
    List<String> torn = new ArrayList<>();
    try (NativeBytes ring = new NativeBytes((long) entries * Cqe.BYTES);
        NativeBytes record = new NativeBytes(DoorbellRecord.BYTES)) {
      Cqe.fillInitial(ring.address(), entries);
      Thread hca = new Thread(() -> produce(ring.address(), record.address(), entries, rounds));
      hca.setDaemon(true);
      hca.start();
      for (long index = 0; index < rounds; index++) {
        long entry = Cqe.entryAddress(ring.address(), entries, index);
        for (int spins = 0; !Cqe.isOwnedBySoftware(entry, index, entries); spins++) {
          Pause.spin(spins);
        }
        if (Cqe.timestamp(entry) != index || Cqe.byteCount(entry) != (int) index) {
          torn.add(CqePrinter.full(entry));
        }
        DoorbellRecord.putConsumerIndex(record.address(), index + 1);
      }
      hca.join();
    }
    assertThat(torn).isEmpty();
  }

  private static void produce(long ring, long record, int entries, int rounds) {
    for (long index = 0; index < rounds; index++) {
      for (int spins = 0; index - DoorbellRecord.consumerIndex(record) >= entries; spins++) {
        Pause.spin(spins);
      }
      Cqe.writeRequester(
          Cqe.entryAddress(ring, entries, index),
          Opcode.RDMA_WRITE,
          1,
          (int) index,
          (int) index,
          index,
          Cqe.ownerFor(index, entries));
    }
  }

  @Test
  void every_syndrome_has_a_name_and_a_remedy_of_its_own() throws IllegalAccessException {
    Set<String> names = new HashSet<>();
    Set<String> remedies = new HashSet<>();
    List<Integer> syndromes = constants(Syndrome.class, "VENDOR_");
    for (int syndrome : syndromes) {
      names.add(Syndrome.name(syndrome));
      remedies.add(Syndrome.remedy(syndrome));
      assertThat(Syndrome.remedy(syndrome)).endsWith(".");
    }
    assertThat(syndromes).hasSize(13);
    assertThat(names).hasSize(13).noneMatch(name -> name.startsWith("unknown"));
    assertThat(remedies).hasSize(13).doesNotContain(Syndrome.remedy(0));
    assertThat(Syndrome.name(0x77)).isEqualTo("unknown syndrome 0x77");
  }

  @Test
  void every_opcode_has_the_name_of_its_constant() throws IllegalAccessException {
    int named = 0;
    for (Field field : Opcode.class.getFields()) {
      assertThat(Opcode.name(field.getInt(null))).isEqualTo(field.getName());
      named++;
    }
    assertThat(named).isEqualTo(23);
    assertThat(Opcode.name(0x3e)).isEqualTo("opcode 0x3e");
  }

  @Test
  void opcodes_of_completions_have_names() {
    for (int opcode = 0; opcode <= Cqe.INVALID; opcode++) {
      boolean known = opcode <= Cqe.NO_PACKET || opcode >= Cqe.SIGNATURE_ERROR;
      assertThat(Cqe.opcodeName(opcode).startsWith("CQE opcode")).isEqualTo(!known);
    }
  }

  private static List<Integer> constants(Class<?> holder, String except)
      throws IllegalAccessException {
    List<Integer> values = new ArrayList<>();
    for (Field field : holder.getFields()) {
      if (!field.getName().startsWith(except)) {
        values.add(field.getInt(null));
      }
    }
    return values;
  }
}
