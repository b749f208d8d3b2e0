package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.PciConfig;
import dev.doorbell.doctor.facts.PciFunction;
import java.util.List;

/** Payload size, read size, tags and relaxed ordering of GPUs and NICs. */
final class PciSettingsCheck implements Check {
  private static final int SMALLEST_PAYLOAD = 128;
  private static final int FEW = 512;
  private static final int MOST = 4096;

  private static final Code GOOD = Code.of("DB-PCIE-01");
  private static final Code PAYLOAD = Code.of("DB-PCIE-02");
  private static final Code READS = Code.of("DB-PCIE-03");
  private static final Code SMALL_READS = Code.of("DB-PCIE-04");
  private static final Code STRICT = Code.of("DB-PCIE-05");
  private static final Code TAGS = Code.of("DB-PCIE-06");
  private static final Code TEN_BIT = Code.of("DB-PCIE-07");
  private static final Code UNREADABLE = Code.of("DB-PCIE-08");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    List<PciFunction> ends = machine.ends().stream().distinct().toList();
    if (ends.isEmpty()) {
      return;
    }
    if (ends.stream().anyMatch(end -> end.config().express().isEmpty())) {
      found.add(UNREADABLE, "", "config space is out of reach for this user");
      return;
    }
    boolean good = true;
    for (PciFunction end : ends) {
      good &= one(end, end.config().express().orElseThrow(), found);
    }
    if (good) {
      PciConfig.Express first = ends.getFirst().config().express().orElseThrow();
      found.add(GOOD, "", "MaxPayload %d, relaxed ordering on".formatted(first.maxPayload()));
    }
  }

  private static boolean one(PciFunction end, PciConfig.Express express, CheckResults found) {
    boolean good = true;
    String at = end.address();
    if (express.maxPayload() == SMALLEST_PAYLOAD && express.payloadSupported() > SMALLEST_PAYLOAD) {
      found.add(PAYLOAD, at, "MaxPayload 128 of %d".formatted(express.payloadSupported()));
      good = false;
    }
    if (!end.nvidiaGpu() && express.maxReadRequest() < MOST) {
      boolean few = express.maxReadRequest() < FEW;
      found.add(few ? READS : SMALL_READS, at, "MaxReadReq %d".formatted(express.maxReadRequest()));
      good &= !few;
    }
    if (!express.relaxedOrdering()) {
      found.add(STRICT, at, "RlxdOrd-");
      good = false;
    }
    if (express.extendedTagsSupported() && !express.extendedTags()) {
      found.add(TAGS, at, "ExtTag-");
      good = false;
    }
    if (express.tenBitTagsSupported() && !express.tenBitTags()) {
      found.add(TEN_BIT, at, "10BitTagReq-");
    }
    return good;
  }
}
