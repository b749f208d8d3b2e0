package dev.doorbell.core.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GidTest {
  @ParameterizedTest
  @CsvSource({
    "10.77.0.1, 10.77.0.1",
    "::ffff:10.77.0.1, 10.77.0.1",
    "::ffff:0a4d:0001, 10.77.0.1",
    "fe80::1, fe80::1",
    "fe80:0:0:0:0:ff:fe00:1, fe80::ff:fe00:1",
    "::, ::",
    "::1, ::1",
    "2001:db8::, 2001:db8::",
    "2001:db8:0:1:0:0:0:9, 2001:db8:0:1::9",
    "1:2:3:4:5:6:7:8, 1:2:3:4:5:6:7:8"
  })
  void texts_are_read_and_written(String text, String canonical) {
    assertThat(Gid.parse(text)).hasToString(canonical);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "host", "10.0.0", "10.0.0.256", "fe80::1::2", "1.2.3.4:80", "abc"})
  void names_and_mistakes_are_refused_without_a_look_up(String text) {
    assertThatThrownBy(() -> Gid.parse(text)).hasMessageContaining("is no GID");
  }

  @Test
  void any_identifier_survives_its_text() throws UnknownHostException {
    long seed = 0x91d;
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 2_000; i++) {
      // Zero groups must be frequent: they are what is left out.
      long high = random.nextLong() & mask(random);
      long low = random.nextLong() & mask(random);
      Gid gid = new Gid(high, low);
      assertThat(Gid.parse(gid.toString())).as("seed %d, case %d", seed, i).isEqualTo(gid);
      NativeFrame bytes = NativeFrame.empty(Gid.BYTES);
      gid.write(bytes.address());
      assertThat(Gid.of(InetAddress.getByAddress(bytes.toArray()))).isEqualTo(gid);
      assertThat(Gid.read(bytes.address())).isEqualTo(gid);
    }
  }

  private static long mask(SplittableRandom random) {
    long mask = 0;
    for (int group = 0; group < 4; group++) {
      mask = mask << 16 | (random.nextBoolean() ? 0xffff : 0);
    }
    return mask;
  }

  @Test
  void a_link_local_identifier_is_made_of_the_mac_address() {
    Gid gid = Gid.linkLocal(0x02_00_00_00_00_01L);
    assertThat(gid).hasToString("fe80::ff:fe00:1");
    assertThat(gid.isLinkLocal()).isTrue();
    assertThat(gid.linkLocalMac()).isEqualTo(0x02_00_00_00_00_01L);
    assertThat(Gid.parse("fe80::1").linkLocalMac()).isEqualTo(-1);
  }

  @ParameterizedTest
  @CsvSource({
    "224.0.0.0, true",
    "239.255.255.255, true",
    "223.255.255.255, false",
    "240.0.0.0, false",
    "10.77.0.1, false",
    "ff00::, true",
    "ff02::1, true",
    "fe80::1, false",
    "fff0::e000:0, true",
    "2001:db8::e000:1, false"
  })
  void multicast_addresses_are_told_from_their_neighbours(String text, boolean multicast) {
    assertThat(Gid.parse(text).isMulticast()).isEqualTo(multicast);
  }
}
