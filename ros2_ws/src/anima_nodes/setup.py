from setuptools import setup

setup(
    name="anima_nodes",
    version="0.1.0",
    packages=["anima_nodes"],
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/anima_nodes"]),
        ("share/anima_nodes", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="Anima maintainers",
    maintainer_email="anima@example.org",
    description="The nodes of an Anima mind",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "process = anima_nodes.process:main",
            "recorder = anima_nodes.recorder:main",
            "world = anima_nodes.world:main",
        ]
    },
)
