"""`python -m anima.install models …`: what the set-up needs before the rest of Anima can be imported."""

import typer

from anima.install.commands import models_app

app = typer.Typer(no_args_is_help=True)
app.add_typer(models_app, name="models")

if __name__ == "__main__":
    app()
