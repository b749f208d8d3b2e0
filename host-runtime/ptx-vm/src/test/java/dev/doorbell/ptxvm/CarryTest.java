package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import java.math.BigInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sums and differences of 128 bits by carries, at the operands where a carry begins and ends. */
class CarryTest {
  private static final String PTX =
      """
      .version 8.0
      .target sm_75
      .address_size 64
      .visible .entry wide(.param .u64 out, .param .u64 al, .param .u64 ah,
          .param .u64 bl, .param .u64 bh)
      {
        .reg .u64 %rd<10>;
        ld.param.u64 %rd0, [out];
        ld.param.u64 %rd1, [al];
        ld.param.u64 %rd2, [ah];
        ld.param.u64 %rd3, [bl];
        ld.param.u64 %rd4, [bh];
        sub.cc.u64 %rd5, %rd1, %rd3;
        subc.cc.u64 %rd6, %rd2, %rd4;
        subc.u64 %rd7, 0, 0;
        st.global.u64 [%rd0], %rd5;
        st.global.u64 [%rd0+8], %rd6;
        st.global.u64 [%rd0+16], %rd7;
        add.cc.u64 %rd5, %rd1, %rd3;
        addc.cc.u64 %rd6, %rd2, %rd4;
        addc.u64 %rd7, 0, 0;
        st.global.u64 [%rd0+24], %rd5;
        st.global.u64 [%rd0+32], %rd6;
        st.global.u64 [%rd0+40], %rd7;
        ret;
      }
      """;

  @ParameterizedTest
  @CsvSource({
    "0, 0, 0, 0",
    "7, 5, 7, 5",
    "7, 5, 8, 5",
    "8, 5, 7, 5",
    "0, 1, 1, 0",
    "-1, -1, -1, -1",
    "-1, -1, 1, 0",
    "0, 0, -1, -1",
    "-1, 5, 0, 5",
    "-9223372036854775808, 0, -9223372036854775808, 0"
  })
  void differences_and_sums_of_128_bits_are_exact(long al, long ah, long bl, long bh) {
    try (World world = new World()) {
      GpuModule module = world.gpu.load("carry.ptx", PTX);
      Memory out = world.device(64);
      world
          .run(
              module,
              "wide",
              LaunchConfig.of(1, 1),
              new KernelArguments().add(out).add(al).add(ah).add(bl).add(bh))
          .check();
      BigInteger a = wide(al, ah);
      BigInteger b = wide(bl, bh);
      assertThat(wide(out.getLong(0), out.getLong(8), out.getLong(16)))
          .isEqualTo(a.subtract(b).mod(BigInteger.TWO.pow(192)));
      assertThat(wide(out.getLong(24), out.getLong(32), out.getLong(40))).isEqualTo(a.add(b));
    }
  }

  private static BigInteger wide(long... words) {
    BigInteger value = BigInteger.ZERO;
    for (int i = words.length - 1; i >= 0; i--) {
      value = value.shiftLeft(64).add(new BigInteger(Long.toUnsignedString(words[i])));
    }
    return value;
  }
}
