/**
 * Contract suites: a back end's own tests extend them and supply a world. {@link
 * dev.doorbell.contract.ClassCircles} bounds how classes of one package may depend on each other.
 */
@NullMarked
package dev.doorbell.contract;

import org.jspecify.annotations.NullMarked;
