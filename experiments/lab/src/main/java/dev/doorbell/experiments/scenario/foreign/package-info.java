/**
 * Structures that the device code of other libraries reads, over queue pairs, completion queues and
 * registered memory of a world: a kernel's descriptor lays them out.
 */
@NullMarked
package dev.doorbell.experiments.scenario.foreign;

import org.jspecify.annotations.NullMarked;
