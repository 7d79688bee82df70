"""Writes the bill of materials of the packages, in CycloneDX: what is inside them, in which version, under which licence.

usage: sbom.py VERSION SECONDS OUT.json NAME:VERSION:LICENCE:PURL-OF-THE-SOURCE...
"""

import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL


def main(version: str, seconds: str, out: str, *parts: str) -> None:
    """Write the file, dated `seconds` after 1970: two builds of one commit give the same date."""
    licences = LicenseFactory()
    product = Component(
        name="shiplap",
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref=f"shiplap@{version}",
        licenses=[licences.make_from_string("Apache-2.0")],
    )
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"shiplap-{version}-{seconds}"))
    bom.metadata.component = product
    bom.metadata.timestamp = datetime.fromtimestamp(int(seconds), timezone.utc)
    components = []
    for part in parts:
        name, number, licence, purl = part.split(":", 3)
        components.append(
            Component(
                name=name,
                version=number,
                type=ComponentType.LIBRARY,
                bom_ref=f"{name}@{number}",
                licenses=[licences.make_from_string(licence)],
                purl=PackageURL.from_string(purl) if purl else None,
            )
        )
    bom.components.update(components)
    bom.register_dependency(product, components)
    Path(out).write_text(JsonV1Dot6(bom).output_as_string(indent=2) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
