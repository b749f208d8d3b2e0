package dev.doorbell.ptxvm.launch;

import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Variable;
import java.util.Optional;

/** Initialised data of a PTX file, read without loading it. */
public final class PtxData {
  private static final int MOST_BYTES = 1 << 24;

  private PtxData() {}

  /**
   * The initial bytes of a {@code .global} or {@code .const} variable whose initialiser has numbers
   * alone.
   *
   * @param name for messages, usually the file's name
   * @return empty when there is no such variable, or an initialiser holds an address
   */
  public static Optional<byte[]> of(String name, String ptx, String variable) {
    return ParsedPtx.of(name, ptx).module().variables().stream()
        .filter(found -> found.name().equals(variable) && found.bytes() <= MOST_BYTES)
        .findFirst()
        .flatMap(PtxData::bytes);
  }

  private static Optional<byte[]> bytes(Variable variable) {
    byte[] bytes = new byte[(int) variable.bytes()];
    for (Variable.Initial part : variable.initial()) {
      if (!(part.value() instanceof Operand.Int(long value))) {
        return Optional.empty();
      }
      for (int i = 0; i < part.bytes(); i++) {
        bytes[(int) part.offset() + i] = (byte) (value >>> (i * Byte.SIZE));
      }
    }
    return Optional.of(bytes);
  }
}
