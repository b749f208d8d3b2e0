package dev.doorbell.interop.shim;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.interop.shim.object.ServedDevice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Writes the devices' entries of {@code /sys/class} as files in a folder. libibverbs reads the
 * folder that {@code SYSFS_PATH} names.
 */
final class SysfsTree {
  /** The device number of {@code /dev/null}, which the preload library opens instead. */
  private static final String NODE = "1:3";

  private SysfsTree() {}

  static void write(Path root, List<ServedDevice> devices) throws IOException {
    Path verbs = root.resolve("class/infiniband_verbs");
    put(verbs.resolve("abi_version"), "6");
    for (ServedDevice device : devices) {
      Path node = verbs.resolve("uverbs" + device.number());
      put(node.resolve("dev"), NODE);
      put(node.resolve("ibdev"), device.name());
      put(node.resolve("abi_version"), "1");
      write(root.resolve("class/infiniband").resolve(device.name()), device);
    }
  }

  private static void write(Path folder, ServedDevice device) throws IOException {
    put(folder.resolve("node_type"), "1: CA");
    put(folder.resolve("node_guid"), words(device.guid()));
    put(folder.resolve("sys_image_guid"), words(device.guid()));
    put(folder.resolve("node_desc"), "doorbell " + device.name());
    put(folder.resolve("fw_ver"), ServedDevice.FIRMWARE);
    put(folder.resolve("board_id"), "DOORBELL");
    put(
        folder.resolve("device/modalias"),
        "pci:v000015B3d0000%04Xsv000015B3sd00000016bc02sc00i00"
            .formatted(ServedDevice.VENDOR_PART));
    put(folder.resolve("device/vendor"), "0x15b3");
    put(folder.resolve("device/device"), "0x%04x".formatted(ServedDevice.VENDOR_PART));
    put(folder.resolve("device/numa_node"), "-1");
    Path port = folder.resolve("ports/1");
    put(port.resolve("state"), "4: ACTIVE");
    put(port.resolve("phys_state"), "5: LinkUp");
    put(port.resolve("link_layer"), "Ethernet");
    put(port.resolve("rate"), "100 Gb/sec (4X EDR)");
    put(port.resolve("lid"), "0x0");
    put(port.resolve("pkeys/0"), "0xffff");
    Gid gid = device.gid();
    put(port.resolve("gids/0"), words(gid.high()) + ":" + words(gid.low()));
    put(port.resolve("gid_attrs/types/0"), "RoCE v2");
    put(port.resolve("gid_attrs/ndevs/0"), "lo");
    for (int i = 1; i < ServedDevice.GID_TABLE_ENTRIES; i++) {
      put(port.resolve("gids").resolve(String.valueOf(i)), words(0) + ":" + words(0));
    }
  }

  /** 64 bits as the kernel prints them: four words. */
  private static String words(long value) {
    return "%04x:%04x:%04x:%04x"
        .formatted(
            value >>> 48 & 0xffff, value >>> 32 & 0xffff, value >>> 16 & 0xffff, value & 0xffff);
  }

  private static void put(Path file, String text) throws IOException {
    Path folder = file.getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Files.writeString(file, text + "\n", StandardCharsets.US_ASCII);
  }

  /** Deletes a folder and what is in it. */
  static void delete(Path root) throws IOException {
    if (!Files.exists(root)) {
      return;
    }
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
