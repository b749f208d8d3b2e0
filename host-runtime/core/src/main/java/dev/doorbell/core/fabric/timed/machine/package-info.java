/**
 * The modelled machine as plain records: which components a node has, which links join them, and
 * what every access costs. A topology file is read into these records; the timed fabric asks them
 * and has no constant of its own. {@link Topology} is the whole, {@link GpuPrices}, {@link
 * CpuPrices} and {@link NicPrices} hold the prices of one component each, {@link Topology.Constant}
 * names the source of one number.
 */
@NullMarked
package dev.doorbell.core.fabric.timed.machine;

import org.jspecify.annotations.NullMarked;
