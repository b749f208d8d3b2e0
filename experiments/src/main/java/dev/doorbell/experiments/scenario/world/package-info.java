/**
 * What a point stands on: a fabric, ranks with a GPU and an HCA each, and the queue pairs between
 * them. It knows that there are back ends, and not what is done with them.
 */
@NullMarked
package dev.doorbell.experiments.scenario.world;

import org.jspecify.annotations.NullMarked;
