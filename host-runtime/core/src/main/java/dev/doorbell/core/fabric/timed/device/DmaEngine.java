package dev.doorbell.core.fabric.timed.device;

import dev.doorbell.core.fabric.timed.event.Calendar;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.machine.NicPrices.DmaPrices;
import dev.doorbell.core.fabric.timed.machine.Tlp;

/** The stages that all DMA of one device passes, at {@link DmaPrices}; times in picoseconds. */
final class DmaEngine {
  private final long readStart;
  private final long readRequest;
  private final long readUnit;
  private final int readUnitBytes;
  private final long writeStart;
  private final long writeRequest;
  private final long writeUnit;
  private final int writeUnitBytes;
  private final long storeRequest;
  private final double storePerByte;
  private final Calendar store = new Calendar();
  private final Calendar fetch = new Calendar();
  private long readFree;
  private long writeFree;

  DmaEngine(DmaPrices prices) {
    readStart = Picos.of(prices.readStart());
    readRequest = Picos.of(prices.readRequest());
    readUnit = Picos.of(prices.readUnit());
    readUnitBytes = prices.readUnitBytes();
    writeStart = Picos.of(prices.writeStart());
    writeRequest = Picos.of(prices.writeRequest());
    writeUnit = Picos.of(prices.writeUnit());
    writeUnitBytes = prices.writeUnitBytes();
    storeRequest = Picos.of(prices.storeRequest());
    storePerByte = prices.storeRate() > 0 ? Picos.perByte(prices.storeRate()) : 0;
  }

  /** When a read that is handed in at {@code now} may send its first request. */
  long readReady(long now) {
    return now + readStart;
  }

  /** When the next read request may leave. */
  long readFree() {
    return readFree;
  }

  /** Read requests for {@code bytes} from {@code address} on leave at {@code now}. */
  void issueRead(int requests, long address, int bytes, long now) {
    int units = Tlp.chunks(address, bytes, readUnitBytes);
    readFree = now + requests * readRequest + units * readUnit;
  }

  /** When bytes of a read, whose last arrives at {@code arrival}, are in place, in whole units. */
  long stored(long arrival, int bytes, long now) {
    int units = Tlp.chunks(0, bytes, readUnitBytes);
    return store.book(arrival, storing(units * readUnitBytes), now);
  }

  /** When a write of {@code bytes} that is handed in at {@code now} may leave. */
  long fetched(int bytes, long now) {
    return fetch.book(now + writeStart, storing(bytes), now);
  }

  /** When the next write may leave. */
  long writeFree() {
    return writeFree;
  }

  /** A write of {@code bytes} leaves at {@code now}. */
  void issueWrite(int bytes, long now) {
    writeFree = now + writeRequest + Tlp.chunks(0, bytes, writeUnitBytes) * writeUnit;
  }

  private long storing(int bytes) {
    return storeRequest + Math.round(bytes * storePerByte);
  }
}
